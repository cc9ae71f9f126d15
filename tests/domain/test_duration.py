from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.domain.duration import format_duration, parse_duration, words_of
from detent.domain.errors import SpecError
from detent.domain.limits import MAX_INTERVAL


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("10m", 600),
        ("2h", 7200),
        ("1h30m", 5400),
        ("1d", 86_400),
        ("2w", 1_209_600),
        ("250ms", 0.25),
    ],
)
def test_a_number_and_a_unit(text, seconds):
    assert parse_duration(text, "every") == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "90",
        "s",
        "1.5h",
        "-5m",
        "+5m",
        "0s",
        "00m",
        "1e309s",
        "NaN",
        "inf",
        "5 m",
        " 5m",
        "5m ",
        "5M",
        "PT5M",
    ]
    + [
        "٥m",
        "5m\n",
        "5y",
        "3661d",
        "999999999999w",
        "9" * 1000 + "s",
        "1s" * 40,
        None,
        5,
        5.0,
        True,
        ["5m"],
        {},
    ],
)
def test_anything_else_is_refused_with_what_to_write(text):
    with pytest.raises(SpecError) as refused:
        parse_duration(text, "every")
    assert refused.value.code == "bad_duration"
    assert refused.value.field == "every"
    assert "10m" in refused.value.message or "1ms to 3660d" in refused.value.message


@given(st.integers(1, MAX_INTERVAL // timedelta(milliseconds=1)))
def test_what_is_written_reads_back(milliseconds):
    duration = timedelta(milliseconds=milliseconds)
    assert parse_duration(format_duration(duration), "every") == duration


def test_in_words():
    assert words_of(timedelta(minutes=90)) == "1 hour 30 minutes"
    assert words_of(timedelta(days=1)) == "1 day"
    assert format_duration(timedelta()) == "0s"
