"""The masks of days against a plain reading of each part, day by day."""

from __future__ import annotations

import calendar
from datetime import date, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from detent.domain.bits import members
from detent.domain.rrule_days import ByDay, DayParts, days_of_year
from tests.conftest import examples


def some(low: int, high: int) -> st.SearchStrategy[frozenset[int]]:
    numbers = st.one_of(st.integers(low, high), st.integers(-high, -low))
    return st.one_of(st.just(frozenset()), st.frozensets(numbers, min_size=1, max_size=5))


weekdays = st.builds(ByDay, st.sampled_from([0, 0, 1, 2, 5, 20, 53, -1, -2, -5, -53]), st.integers(0, 6))
parts = st.builds(
    DayParts,
    months=st.one_of(st.just(frozenset()), st.frozensets(st.integers(1, 12), min_size=1, max_size=4)),
    weeks=some(1, 53),
    year_days=some(1, 366),
    month_days=some(1, 31),
    weekdays=st.one_of(st.just(frozenset()), st.frozensets(weekdays, min_size=1, max_size=4)),
    week_start=st.integers(0, 6),
    nth_of_year=st.booleans(),
)


def holds(by: DayParts, day: date) -> bool:
    in_year = day.timetuple().tm_yday
    year, month = 365 + calendar.isleap(day.year), calendar.monthrange(day.year, day.month)[1]
    number, size = (in_year, year) if by.nth_of_year else (day.day, month)
    return (
        (not by.months or day.month in by.months)
        and _counts(by.month_days, day.day, month)
        and _counts(by.year_days, in_year, year)
        and (not by.weekdays or any(_is(weekday, day, number, size) for weekday in by.weekdays))
        and _counts(by.weeks, *_week(day, by.week_start))
    )


def _counts(numbers: frozenset[int], number: int, size: int) -> bool:
    return not numbers or number in numbers or number - size - 1 in numbers


def _is(weekday: ByDay, day: date, number: int, size: int) -> bool:
    nth, nth_last = (number + 6) // 7, -((size - number + 7) // 7)
    return day.weekday() == weekday.weekday and weekday.nth in (0, nth, nth_last)


def _week(day: date, week_start: int) -> tuple[int, int]:
    """A week belongs to the year that has its fourth day, and is counted there."""
    fourth = day + timedelta(3 - (day.weekday() - week_start) % 7)
    fourths = [fourth + timedelta(7 * n) for n in range(-53, 54)]
    of_year = [each for each in fourths if each.year == fourth.year]
    return of_year.index(fourth) + 1, len(of_year)


# R-TIME-3
@given(parts, st.integers(1900, 2250))
@settings(max_examples=examples(150))
def test_a_mask_holds_the_days_that_every_part_names(by, year):
    days = (date(year, 1, 1) + timedelta(n) for n in range(365 + calendar.isleap(year)))
    assert list(members(days_of_year(by, year))) == [n for n, day in enumerate(days) if holds(by, day)]


# R-TIME-3
def test_weeks_from_monday_are_those_of_iso_8601():
    for year in range(1990, 2030):
        for week in (1, 9, 52, 53):
            by = DayParts(weeks=frozenset((week,)))
            days = [date(year, 1, 1) + timedelta(n) for n in members(days_of_year(by, year))]
            assert all(day.isocalendar().week == week for day in days)
            assert len(days) >= (7 if week == 9 else 0)
