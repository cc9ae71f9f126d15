from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.domain.errors import SpecError
from detent.domain.instant import (
    ceil_seconds,
    floor_millisecond,
    format_instant,
    instant_of,
    on_whole_millisecond,
    parse_instant,
    seconds_of,
)

NOON = datetime(2026, 11, 19, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-11-19T12:00:00Z", NOON),
        ("2026-11-19T12:00Z", NOON),
        ("2026-11-19t12:00:00z", NOON),
        ("2026-11-19 12:00:00+00:00", NOON),
        ("2026-11-19T13:30:00+01:30", NOON),
        ("2026-11-19T07:00:00-0500", NOON),
        ("2026-11-19T12:00:00.5Z", NOON + timedelta(milliseconds=500)),
        ("2026-11-19T12:00:00.123456789Z", NOON + timedelta(microseconds=123_456)),
    ],
)
def test_iso_8601_with_an_offset(text, instant):
    assert parse_instant(text, "at") == instant


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("2026-11-19T12:00:00", "add Z"),
        ("2026-02-30T12:00:00Z", "does not exist"),
        ("2026-11-19T25:00:00Z", "does not exist"),
        ("2026-11-19T12:61:00Z", "does not exist"),
        ("2026-11-19T12:00:61Z", "does not exist"),
        ("2026-11-19T12:00:00+24:00", "does not exist"),
        ("0000-01-01T00:00:00Z", "does not exist"),
        ("0001-01-01T00:00:00+10:00", "does not exist"),
        ("9999-12-31T23:59:59-10:00", "does not exist"),
        ("1899-12-31T23:59:59Z", "1900 to 2199"),
        ("2200-01-01T00:00:00Z", "1900 to 2199"),
        ("10000-01-01T00:00:00Z", "write it like"),
        ("2026-11-19T12:00:00.1234567890Z", "write it like"),
        ("2026-W47-4T12:00:00Z", "write it like"),
        ("20261119T120000Z", "write it like"),
        ("2026-11-19", "write it like"),
        ("infinity", "write it like"),
        ("now", "write it like"),
        ("٢٠٢٦-11-19T12:00:00Z", "write it like"),
        ("2026-11-19T12:00:00Z\n", "write it like"),
        ("x" * 1_000_000, "write it like"),
        ("", "write it like"),
        (1_795_000_000, "an instant is a text"),
        (None, "an instant is a text"),
        (True, "an instant is a text"),
    ],
)
def test_anything_else_is_refused_with_what_to_write(text, advice):
    with pytest.raises(SpecError) as refused:
        parse_instant(text, "at")
    assert refused.value.code == "bad_instant"
    assert advice in refused.value.message
    assert len(refused.value.message) < 200
    assert len(refused.value.token) < 50


@given(st.datetimes(datetime(1900, 1, 2), datetime(2199, 12, 30)))  # noqa: DTZ001
def test_what_is_written_reads_back(naive):
    instant = naive.replace(tzinfo=UTC)
    assert parse_instant(format_instant(instant), "at") == instant


@given(st.datetimes(datetime(1900, 1, 2), datetime(2199, 12, 30)))  # noqa: DTZ001
def test_rounding_goes_where_it_says(naive):
    instant = naive.replace(tzinfo=UTC)
    assert instant_of(seconds_of(instant)) <= instant <= instant_of(ceil_seconds(instant))
    assert ceil_seconds(instant) - seconds_of(instant) == (instant.microsecond > 0)
    assert floor_millisecond(instant) <= instant <= on_whole_millisecond(instant)
    assert on_whole_millisecond(instant).microsecond % 1000 == 0
    assert on_whole_millisecond(instant) - instant < timedelta(milliseconds=1)
