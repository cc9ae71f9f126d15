"""Recurrence rules of RFC 5545, as a pattern of wall times.

A rule walks *periods* of its frequency, counted from DTSTART, and takes from each the days that its BY parts let
through, at its times of day. Period k is computed directly, so nothing is walked from DTSTART (only COUNT is, once).
A rule below a day is a rule of every day whose times of day are its steps. Why this is not python-dateutil, which
judges it in the tests instead: `docs/adr/0003-recurrence-rules.md`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from itertools import islice, pairwise, takewhile
from typing import Final, NamedTuple

_DAY: Final = 86_400
_EPOCH_ORDINAL: Final = date(1970, 1, 1).toordinal()
_LAST_YEAR: Final = 2260
"""Past every instant that can be asked for, with the search's horizon added."""
_LAST_DAY: Final = date(_LAST_YEAR - 1, 1, 1).toordinal() - _EPOCH_ORDINAL
_FAR: Final = 1 << 62


class Frequency(StrEnum):
    YEARLY = "YEARLY"
    MONTHLY = "MONTHLY"
    WEEKLY = "WEEKLY"
    DAILY = "DAILY"
    HOURLY = "HOURLY"
    MINUTELY = "MINUTELY"
    SECONDLY = "SECONDLY"


STEP: Final = {Frequency.HOURLY: 3600, Frequency.MINUTELY: 60, Frequency.SECONDLY: 1}
WEEKDAY_CODES: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


class ByDay(NamedTuple):
    """`MO` (nth 0), `1FR`, `-1SU`. Monday is 0, as in the RFC's week."""

    nth: int
    weekday: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrence:
    """A rule with everything filled in that the RFC takes from DTSTART."""

    source: str
    frequency: Frequency
    start: int
    """DTSTART, as a wall time."""
    interval: int = 1
    count: int | None = None
    until: int | None = None
    """The last wall time that may be a slot."""
    week_start: int = 0
    months: frozenset[int] = frozenset()
    weeks: frozenset[int] = frozenset()
    year_days: frozenset[int] = frozenset()
    month_days: frozenset[int] = frozenset()
    weekdays: frozenset[ByDay] = frozenset()
    hours: frozenset[int] = frozenset()
    minutes: frozenset[int] = frozenset()
    seconds: frozenset[int] = frozenset()
    positions: frozenset[int] = frozenset()
    end: int = field(init=False, compare=False, repr=False)
    """The wall time from which on there are no slots: what UNTIL and COUNT come to."""
    times: Sequence[int] | None = field(init=False, compare=False, repr=False)
    """The seconds of a day at which it fires; None if they drift from day to day."""

    def __post_init__(self) -> None:
        limit = _FAR if self.until is None else self.until + 1
        object.__setattr__(self, "times", self._fixed_times())
        object.__setattr__(self, "end", limit)
        if self.count is not None:
            nth = next(islice(self._walls(self.start, _LAST_DAY), self.count - 1, None), None)
            object.__setattr__(self, "end", limit if nth is None else min(limit, nth + 1))

    @property
    def recurring(self) -> bool:
        """Below a day, a rule counts real hours, like a wildcard in cron."""
        return self.frequency in STEP

    def text(self) -> str:
        return self.source

    def next_wall(self, wall: int, limit: int) -> int | None:
        limit = min(limit, self.end)
        found = next(self._walls(max(wall, self.start), limit // _DAY), limit)
        return found if found < limit else None

    def count_walls(self, start: int, end: int) -> int:
        start, end = max(start, self.start), min(end, self.end)
        if start >= end:
            return 0
        if self.positions:
            return sum(1 for _ in takewhile(end.__gt__, self._walls(start, end // _DAY)))
        total = 0
        for day in self._days(start // _DAY, end // _DAY):
            times, midnight = self._times_on(day), day * _DAY
            total += bisect_left(times, end - midnight) - bisect_left(times, start - midnight)
        return total

    def shortest_gap(self) -> int:
        """The least distance within the first 500 slots: of most rules, all there is to know."""
        walls = islice(self._walls(self.start, _LAST_DAY), 500)
        return min((b - a for a, b in pairwise(walls)), default=_DAY)

    def _walls(self, wall: int, last_day: int) -> Iterator[int]:
        """The slots from `wall` on, until that day; UNTIL and COUNT are not looked at."""
        if self.positions:
            for period in self._periods(wall // _DAY, last_day):
                yield from (found for found in self._picked(period) if found >= wall)
            return
        for day in self._days(wall // _DAY, last_day):
            times, midnight = self._times_on(day), day * _DAY
            for second in islice(times, bisect_left(times, wall - midnight), None):
                yield midnight + second

    def _days(self, first: int, last: int) -> Iterator[int]:
        for period in self._periods(first, last):
            yield from (day for day in self._days_of(period) if first <= day <= last)

    def _picked(self, period: int) -> list[int]:
        """BYSETPOS: the nth slots of a period, from its front or its end, without laying them all out."""
        days = list(self._days_of(period))
        times = self._times_on(days[0]) if days else ()
        size = len(days) * len(times)
        places = {n - 1 if n > 0 else size + n for n in self.positions}
        found = (divmod(place, len(times)) for place in places if 0 <= place < size)
        walls = sorted(days[day] * _DAY + times[time] for day, time in found)
        return [wall for wall in walls if wall >= self.start]

    def _periods(self, first: int, last: int) -> Iterator[int]:
        """The numbers of the periods that share a day with [first, last]."""
        number = max(0, self._period_at(first))
        while self._first_day(number) <= last:
            yield number
            number += 1

    def _period_at(self, day: int) -> int:
        """The last period that begins on or before that day, counted from DTSTART's, which is 0."""
        when, start = _date(day), _date(self.start // _DAY)
        match self.frequency:
            case Frequency.YEARLY:
                return (when.year - start.year) // self.interval
            case Frequency.MONTHLY:
                months = (when.year - start.year) * 12 + when.month - start.month
                return months // self.interval
            case Frequency.WEEKLY:
                return (day - self._first_day(0)) // (7 * self.interval)
            case Frequency.DAILY:
                return (day - self.start // _DAY) // self.interval
            case _:
                return day - self.start // _DAY

    def _first_day(self, period: int) -> int:
        start_day = self.start // _DAY
        start = _date(start_day)
        match self.frequency:
            case Frequency.YEARLY:
                return _day(start.year + period * self.interval, 1)
            case Frequency.MONTHLY:
                month = start.month - 1 + period * self.interval
                return _day(start.year + month // 12, month % 12 + 1)
            case Frequency.WEEKLY:
                return start_day - (start.weekday() - self.week_start) % 7 + period * 7 * self.interval
            case Frequency.DAILY:
                return start_day + period * self.interval
            case _:
                return start_day + period

    def _days_of(self, period: int) -> Iterator[int]:
        first = self._first_day(period)
        when = _date(first)
        if self.frequency is Frequency.YEARLY:
            months = sorted(self.months) if self.months and not self.weeks else range(1, 13)
            spans = [(_day(when.year, month), _day(when.year, month + 1)) for month in months]
        elif self.frequency is Frequency.MONTHLY:
            spans = [(first, _day(when.year, when.month + 1))]
        else:
            spans = [(first, first + (7 if self.frequency is Frequency.WEEKLY else 1))]
        for low, high in spans:
            yield from filter(self._lets_through, range(low, high))

    def _lets_through(self, day: int) -> bool:
        when = _date(day)
        if self.months and when.month not in self.months:
            return False
        if self.month_days and not _holds(self.month_days, when.day, _length(when)):
            return False
        if self.weekdays and not self._has_weekday(day, when):
            return False
        if self.year_days:
            number, length = day - _day(when.year, 1) + 1, _day(when.year, 13) - _day(when.year, 1)
            if not _holds(self.year_days, number, length):
                return False
        return not self.weeks or _holds(self.weeks, *self._week(day, when.year))

    def _has_weekday(self, day: int, when: date) -> bool:
        in_year = self.frequency is Frequency.YEARLY and not self.months
        number = day - _day(when.year, 1) if in_year else when.day - 1
        length = _day(when.year, 13) - _day(when.year, 1) if in_year else _length(when)
        weekday = when.weekday()
        nth, nth_last = number // 7 + 1, -((length - number - 1) // 7) - 1
        return not self.weekdays.isdisjoint(
            {ByDay(0, weekday), ByDay(nth, weekday), ByDay(nth_last, weekday)}
        )

    def _week(self, day: int, year: int) -> tuple[int, int]:
        """The number of the week in which a day lies, and how many weeks its week-year has."""
        for candidate in (year + 1, year, year - 1):
            first = self._week_one(candidate)
            if day >= first:
                weeks = (self._week_one(candidate + 1) - first) // 7
                return (day - first) // 7 + 1, weeks
        raise AssertionError("a day lies in its year or the one before")

    def _week_one(self, year: int) -> int:
        """The first day of the first week that has four days in that year: the week of 4 January."""
        fourth = _day(year, 1) + 3
        return fourth - (_date(fourth).weekday() - self.week_start) % 7

    def _times_on(self, day: int) -> Sequence[int]:
        return self._drifting_times(day) if self.times is None else self.times

    def _fixed_times(self) -> Sequence[int] | None:
        step = STEP.get(self.frequency, 0) * self.interval
        if not step:
            return self._spread(self.hours)
        if _DAY % step:
            return None
        if not self.limited:
            return self._drifting_times(self.start // _DAY)
        unit = STEP[self.frequency]
        begins = range(self.start % _DAY // unit * unit % step, _DAY, step)
        kept = [b for b in begins if self._keeps(b)]
        return sorted(b + s for b in kept for s in self._spread(()))

    def _drifting_times(self, day: int) -> Sequence[int]:
        """The steps of a rule below a day that fall on that day, unlimited by BY parts of its own unit or above."""
        unit = STEP[self.frequency]
        step, offsets = unit * self.interval, self._spread(())
        first = (self.start // unit * unit - day * _DAY) % step
        if len(offsets) == 1:
            return range(first + offsets[0], _DAY, step)
        return [begin + offset for begin in range(first, _DAY, step) for offset in offsets]

    @property
    def limited(self) -> bool:
        """Its own steps are thinned out by BY parts of their unit or above."""
        unit = STEP[self.frequency]
        return bool(self.hours or (unit < 3600 and self.minutes) or (unit < 60 and self.seconds))

    def _keeps(self, second: int) -> bool:
        unit = STEP[self.frequency]
        hour, minute = second // 3600, second // 60 % 60
        return not (
            (self.hours and hour not in self.hours)
            or (unit < 3600 and self.minutes and minute not in self.minutes)
            or (unit < 60 and self.seconds and second % 60 not in self.seconds)
        )

    def _spread(self, hours: Iterable[int]) -> list[int]:
        """What the BY parts below the frequency's unit make of one step: minutes of an hour, seconds of a minute."""
        unit = STEP.get(self.frequency, _DAY)
        minutes = self.minutes if unit > 60 else ()
        seconds = self.seconds if unit > 1 else ()
        return sorted(
            h * 3600 + m * 60 + s for h in hours or (0,) for m in minutes or (0,) for s in seconds or (0,)
        )


def _holds(numbers: frozenset[int], number: int, size: int) -> bool:
    """Numbers below zero count from the end."""
    return number in numbers or number - size - 1 in numbers


def _date(day: int) -> date:
    return date.fromordinal(day + _EPOCH_ORDINAL)


def _day(year: int, month: int) -> int:
    """The first day of a month; month 13 is the next January. Years past all tables are far away."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return date(year, month, 1).toordinal() - _EPOCH_ORDINAL if year <= _LAST_YEAR else _FAR


def _length(when: date) -> int:
    return _day(when.year, when.month + 1) - _day(when.year, when.month)
