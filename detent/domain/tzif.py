"""Reading zone rules: a TZif file and its footer become a list of (from this second on, this offset).

The footer (a POSIX TZ rule such as `EST5EDT,M3.2.0,M11.1.0`) governs all years after the last listed
transition, in today's slim files nearly everything that a scheduler asks for. It is expanded once, up to LATEST.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import Final, NamedTuple

from detent.domain.days import DAY_SECONDS, EPOCH_ORDINAL
from detent.domain.limits import LATEST

_HEADER: Final = struct.Struct(">4sc15x6I")
_NAME: Final = r"(?:<[^>]+>|[A-Za-z]+)"
_CLOCK: Final = r"[+-]?\d+(?::\d+(?::\d+)?)?"
_FOOTER: Final = re.compile(
    rf"{_NAME}(?P<standard>{_CLOCK})(?:{_NAME}(?P<summer>{_CLOCK})?,(?P<starts>[^,]+),(?P<ends>[^,]+))?"
)


class Shift(NamedTuple):
    """From `at` (seconds since 1970) on, local clocks are `offset` seconds ahead of UTC."""

    at: int
    offset: int


def read_tzif(data: bytes) -> list[Shift]:
    """All shifts of a zone until LATEST. The first holds since ever; consecutive ones differ in offset."""
    body, footer = _second_block(data)
    listed = list(_listed(body))
    resume = listed[-1].at
    merged = listed[:1]
    for shift in (*listed[1:], *(later for later in _expand(footer) if later.at > resume)):
        if shift.offset != merged[-1].offset:
            merged.append(shift)
    return merged


def _second_block(data: bytes) -> tuple[bytes, str]:
    """The 64-bit block and the footer behind it. The 32-bit block before them is for older readers."""
    magic, version, *counts = _HEADER.unpack_from(data)
    if magic != b"TZif" or version < b"2":
        raise ValueError("not a TZif file of version 2 or later")
    utc, standard, leaps, times, types, letters = counts
    start = _HEADER.size + times * 5 + types * 6 + letters + leaps * 8 + standard + utc
    footer_at = data.rindex(b"\n", start, len(data) - 1)
    return data[start:footer_at], data[footer_at + 1 : -1].decode("ascii")


def _listed(body: bytes) -> Iterator[Shift]:
    times, types = _HEADER.unpack_from(body)[5:7]
    at = _HEADER.size
    instants = struct.unpack_from(f">{times}q", body, at)
    kinds = body[at + 8 * times : at + 9 * times]
    offsets = [struct.unpack_from(">i", body, at + 9 * times + 6 * kind)[0] for kind in range(types)]
    yield Shift(-(1 << 62), offsets[0])
    for instant, kind in zip(instants, kinds, strict=True):
        yield Shift(instant, offsets[kind])


@lru_cache(maxsize=256)
def _expand(footer: str) -> tuple[Shift, ...]:
    """The shifts of a footer from 1970 on. Few zones have a footer of their own, so this is done once for many."""
    match = _FOOTER.fullmatch(footer)
    if match is None:
        raise ValueError(f"zone rule not understood: {footer!r}")
    standard = -_clock(match["standard"])
    if match["starts"] is None:
        return (Shift(-(1 << 62) + 1, standard),)
    summer = -_clock(match["summer"]) if match["summer"] else standard + 3600
    shifts = [
        shift
        for year in range(1970, LATEST.year + 1)
        for shift in (
            Shift(_when(match["starts"], year) - standard, summer),
            Shift(_when(match["ends"], year) - summer, standard),
        )
    ]
    return tuple(sorted(shifts))


def _when(rule: str, year: int) -> int:
    """The local second at which a rule such as `M3.2.0/2` (second Sunday of March, at 2) applies."""
    day, _, clock = rule.partition("/")
    if not day.startswith("M"):
        raise ValueError(f"zone rule not understood: {rule!r}")
    month, week, weekday = map(int, day[1:].split("."))
    first = date(year, month, 1).toordinal()
    ordinal = first + (weekday - first) % 7 + 7 * (week - 1)
    after = date(year + month // 12, month % 12 + 1, 1).toordinal()
    while ordinal >= after:  # week 5 means the last one
        ordinal -= 7
    return (ordinal - EPOCH_ORDINAL) * DAY_SECONDS + _clock(clock or "2")


def _clock(text: str) -> int:
    hours, minutes, seconds = (*map(int, text.lstrip("+-").split(":")), 0, 0)[:3]
    size = hours * 3600 + minutes * 60 + seconds
    return -size if text.startswith("-") else size
