from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from detent.domain.at import At
from detent.domain.every import Every
from detent.domain.limits import LATEST

ANCHOR = datetime(2026, 11, 19, 8, 0, 0, 250_000, tzinfo=UTC)
periods = st.integers(1, 10**9).map(lambda ms: timedelta(milliseconds=ms))
instants = st.integers(-(10**12), 10**12).map(lambda ms: ANCHOR + timedelta(milliseconds=ms))


# R-TIME-2
def test_slots_lie_on_the_anchor_and_whole_periods_after_it():
    every = Every(timedelta(seconds=90), ANCHOR)
    assert every.next(ANCHOR - timedelta(days=1)) == ANCHOR
    assert every.next(ANCHOR) == ANCHOR + timedelta(seconds=90)
    assert every.next(ANCHOR + timedelta(seconds=89)) == ANCHOR + timedelta(seconds=90)
    assert every.next(ANCHOR + timedelta(seconds=90)) == ANCHOR + timedelta(seconds=180)
    assert every.previous(ANCHOR) is None
    assert every.previous(ANCHOR + timedelta(seconds=180)) == ANCHOR + timedelta(seconds=90)
    assert every.next(LATEST) is None


# R-TIME-2
def test_elapsed_time_takes_no_notice_of_clock_changes():
    every = Every(timedelta(hours=24), datetime(2026, 3, 7, 7, 30, tzinfo=UTC))
    assert every.next(datetime(2026, 3, 8, 12, 0, tzinfo=UTC)) == datetime(2026, 3, 9, 7, 30, tzinfo=UTC)


@given(periods, instants)
def test_next_and_previous_enclose_every_instant(period, instant):
    every = Every(period, ANCHOR)
    after, before = every.next(instant), every.previous(instant)
    assert after is not None
    assert after > instant
    assert (after - ANCHOR) % period == timedelta()
    assert before is None or before < instant <= before + period
    assert (before is None) == (instant <= ANCHOR)


@given(periods, instants, instants)
def test_counting_is_arithmetic(period, start, end):
    every = Every(period, ANCHOR)
    count = every.count(start, end)
    if start >= end:
        assert count == 0
        return
    first = every.next(start - timedelta.resolution)
    last = every.previous(end)
    expected = 0 if last is None or first is None or first > last else (last - first) // period + 1
    assert count == expected


# R-TIME-2
def test_a_one_off_has_one_slot():
    at = At(ANCHOR)
    assert at.next(ANCHOR - timedelta(milliseconds=1)) == ANCHOR
    assert at.next(ANCHOR) is None
    assert at.next(ANCHOR - timedelta(days=60 * 366)) is None
    assert at.previous(ANCHOR) is None
    assert at.previous(ANCHOR + timedelta(milliseconds=1)) == ANCHOR
    assert at.count(ANCHOR, ANCHOR + timedelta(days=1)) == 1
    assert at.count(ANCHOR - timedelta(days=1), ANCHOR) == 0
