"""Which days of a year the BY parts of a recurrence rule let through.

They depend on the year alone, so they are a mask of its days (bit 0 is 1 January) that is made once: whoever fires on
a 29 February that is a Monday looks at a mask a year to find the next one, not at every day of decades.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from detent.domain.bits import below, mask_of, union
from detent.domain.days import LEAP_MONTH_LENGTHS, MONTH_LENGTHS, day_of, is_leap

ALL_DAYS: Final = below(366)
_EVERY_SEVENTH: Final = mask_of(range(0, 366, 7))


class ByDay(NamedTuple):
    """`MO` (nth 0), `1FR`, `-1SU`. Monday is 0, as in the RFC's week."""

    nth: int
    weekday: int


class Stretch(NamedTuple):
    """Days [low, high) of a year."""

    low: int
    high: int

    @property
    def mask(self) -> int:
        return below(self.high) & ~below(self.low)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayParts:
    """The BY parts about days. An empty one lets every day through."""

    months: frozenset[int] = frozenset()
    weeks: frozenset[int] = frozenset()
    year_days: frozenset[int] = frozenset()
    month_days: frozenset[int] = frozenset()
    weekdays: frozenset[ByDay] = frozenset()
    week_start: int = 0
    nth_of_year: bool = False
    """`20MO` counts the Mondays of the year; otherwise those of each month."""


@lru_cache(maxsize=8192)
def days_of_year(parts: DayParts, year: int) -> int:
    """The days that every given part lets through."""
    months = months_of(year)
    whole, first = [Stretch(0, months[-1].high)], date(year, 1, 1).weekday()
    days = below(whole[0].high)
    if parts.months:
        days &= union(months[number - 1].mask for number in parts.months)
    if parts.month_days:
        days &= _counted(parts.month_days, months)
    if parts.year_days:
        days &= _counted(parts.year_days, whole)
    if parts.weekdays:
        days &= union(_on(day, first, whole if parts.nth_of_year else months) for day in parts.weekdays)
    if parts.weeks:
        days &= _in_weeks(parts.weeks, parts.week_start, year)
    return days


def months_of(year: int) -> Sequence[Stretch]:
    """The twelve months as stretches of days of their year."""
    return _MONTHS[is_leap(year)]


def shifted(mask: int, by: int) -> int:
    """A mask moved by so many days; what comes to lie before the year is gone."""
    return mask << by if by >= 0 else mask >> -by


def _stretches(lengths: Iterable[int]) -> Sequence[Stretch]:
    return [Stretch(low, high) for low, high in pairwise(accumulate(lengths, initial=0))]


def _counted(numbers: Iterable[int], stretches: Iterable[Stretch]) -> int:
    """The nth days of each stretch. Numbers below zero count from its end."""
    days = [(low + n - 1 if n > 0 else high + n, low, high) for low, high in stretches for n in numbers]
    return mask_of(day for day, low, high in days if low <= day < high)


def _on(day: ByDay, first: int, stretches: Iterable[Stretch]) -> int:
    """Every such weekday, or the nth of each stretch, in a year that begins on weekday `first`."""
    if not day.nth:
        return _EVERY_SEVENTH << (day.weekday - first) % 7
    found = []
    for low, high in stretches:
        if day.nth > 0:
            at = low + (day.weekday - first - low) % 7 + 7 * (day.nth - 1)
        else:
            at = high - 1 - (first + high - 1 - day.weekday) % 7 + 7 * (day.nth + 1)
        if low <= at < high:
            found.append(at)
    return mask_of(found)


def _in_weeks(numbers: Iterable[int], week_start: int, year: int) -> int:
    """The days in weeks of these numbers. A year begins and ends with days that may be of its neighbours' weeks."""
    days = 0
    for week_year in (year - 1, year, year + 1):
        begin = _week_one(week_year, week_start)
        size = (_week_one(week_year + 1, week_start) - begin) // 7
        places = (n - 1 if n > 0 else size + n for n in numbers)
        days |= union(
            shifted(below(7), begin + 7 * place - day_of(date(year, 1, 1)))
            for place in places
            if 0 <= place < size
        )
    return days


def _week_one(year: int, week_start: int) -> int:
    """The first day of the first week that has four days in that year: the week of 4 January."""
    fourth = date(year, 1, 4)
    return day_of(fourth) - (fourth.weekday() - week_start) % 7


_MONTHS: Final = (_stretches(MONTH_LENGTHS[1:]), _stretches(LEAP_MONTH_LENGTHS[1:]))
