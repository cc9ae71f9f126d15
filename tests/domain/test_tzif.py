from __future__ import annotations

import struct

import pytest

from detent.domain.tzif import read_tzif


def tzif(footer: str, *, version: bytes = b"2") -> bytes:
    """A file without listed changes, whose rules are all in the footer."""
    header = struct.pack(">4sc15x6I", b"TZif", version, 0, 0, 0, 0, 1, 4)
    block = struct.pack(">i?B", 0, False, 0) + b"UTC\0"
    return header + block + header + block + f"\n{footer}\n".encode()


@pytest.mark.parametrize(
    ("footer", "first_changes"),
    [
        ("UTC0", []),
        ("EST5EDT,M3.2.0,M11.1.0", [(5_727_600, -14_400), (26_287_200, -18_000)]),
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", [(7_520_400, -3600), (25_664_400, -7200)]),
        ("IST-1GMT0,M10.5.0,M3.5.0/1", [(7_520_400, 0), (25_664_400, 3600)]),
    ],
)
def test_footers_are_expanded_from_1970_on(footer, first_changes):
    shifts = read_tzif(tzif(footer))
    recent = [s for s in shifts if s.at >= 0 and s.at < 31_536_000]
    if footer.startswith("IST"):
        assert {s.offset for s in recent} == {0, 3600}
    else:
        assert [(s.at, s.offset) for s in recent] == first_changes


@pytest.mark.parametrize("footer", ["EST5EDT,J60,J300", "EST5EDT,60,300", "nonsense!", "EST"])
def test_rules_that_are_not_understood_are_refused_rather_than_guessed(footer):
    with pytest.raises(ValueError, match="zone rule not understood"):
        read_tzif(tzif(footer))


def test_a_file_that_is_none_is_refused():
    with pytest.raises(ValueError, match="not a TZif file"):
        read_tzif(b"GIF89a" + bytes(100))
    with pytest.raises(ValueError, match="not a TZif file"):
        read_tzif(tzif("UTC0", version=b"\0"))
