"""Recurrence rules of RFC 5545, as a pattern of wall times.

A rule's *days* are those that its BY parts let through in the years, months, weeks or days that INTERVAL picks,
counted from DTSTART: a mask a year, so nothing is walked from DTSTART (only COUNT is, once). On each of them it has
its *times of day*; below a day these are its steps. Why this is not python-dateutil, which judges it in the tests
instead: `docs/adr/0003-recurrence-rules.md`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from itertools import groupby, islice, pairwise, takewhile
from typing import Final

from detent.domain.bits import below, mask_of, members, union
from detent.domain.days import DAY_SECONDS, date_of, day_of
from detent.domain.rrule_days import (
    ALL_DAYS,
    DayParts,
    days_of_year,
    months_of,
    shifted,
)

_LAST_YEAR: Final = 2260
"""Past every instant that can be asked for, with the search's horizon added."""
_LAST_DAY: Final = day_of(date(_LAST_YEAR, 1, 1))
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
_LONGEST: Final = {Frequency.YEARLY: 366, Frequency.MONTHLY: 31, Frequency.WEEKLY: 7, Frequency.DAILY: 1}
"""Days of a period."""
WEEKDAY_CODES: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrence:
    """A rule with everything filled in that the RFC takes from DTSTART."""

    frequency: Frequency
    start: int
    """DTSTART, as a wall time."""
    interval: int = 1
    count: int | None = None
    until: int | None = None
    """The last wall time that may be a slot."""
    days: DayParts
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

    def next_wall(self, wall: int, limit: int) -> int | None:
        limit = min(limit, self.end)
        found = next(self._walls(max(wall, self.start), limit // DAY_SECONDS), limit)
        return found if found < limit else None

    def count_walls(self, start: int, end: int) -> int:
        start, end = max(start, self.start), min(end, self.end)
        if start >= end:
            return 0
        if self.positions:
            return sum(1 for _ in takewhile(end.__gt__, self._walls(start, end // DAY_SECONDS)))
        first, before = divmod(start, DAY_SECONDS)
        last, rest = divmod(end, DAY_SECONDS)
        if self.times is None:
            days = self._days(first, last)
            return sum(
                self._count_steps(max(start, d * DAY_SECONDS), min(end, (d + 1) * DAY_SECONDS)) for d in days
            )
        total = sum(days.bit_count() for _, days in self._years(first, last - 1)) * len(self.times)
        if before and self._has_day(first):
            total -= bisect_left(self.times, before)
        if rest and self._has_day(last):
            total += bisect_left(self.times, rest)
        return total

    def shortest_gap(self) -> int:
        """The least distance within the first 500 slots: of most rules, all there is to know."""
        walls = islice(self._walls(self.start, _LAST_DAY), 500)
        return min((b - a for a, b in pairwise(walls)), default=DAY_SECONDS)

    def _walls(self, wall: int, last_day: int) -> Iterator[int]:
        """The slots from `wall` on, until that day; UNTIL and COUNT are not looked at."""
        if self.positions:
            yield from (found for found in self._picked(wall // DAY_SECONDS, last_day) if found >= wall)
            return
        for day in self._days(wall // DAY_SECONDS, last_day):
            times, midnight = self._times_on(day), day * DAY_SECONDS
            for second in islice(times, bisect_left(times, wall - midnight), None):
                yield midnight + second

    def _picked(self, first: int, last: int) -> Iterator[int]:
        """BYSETPOS: the nth slots of each period, from its front or its end, without laying them all out."""
        days = self._days(self._period_of(first), last + _LONGEST[self.frequency])
        for _, each in groupby(days, self._period_of):
            period = list(each)
            times = self._times_on(period[0])
            size = len(period) * len(times)
            places = sorted({n - 1 if n > 0 else size + n for n in self.positions})
            for day, time in (divmod(place, len(times)) for place in places if 0 <= place < size):
                wall = period[day] * DAY_SECONDS + times[time]
                if wall >= self.start:
                    yield wall

    def _period_of(self, day: int) -> int:
        """The first day of the year, month or week in which that day lies."""
        when = date_of(day)
        match self.frequency:
            case Frequency.YEARLY:
                return day_of(when.replace(month=1, day=1))
            case Frequency.MONTHLY:
                return day - when.day + 1
            case Frequency.WEEKLY:
                return day - (when.weekday() - self.days.week_start) % 7
            case _:
                return day

    def _days(self, first: int, last: int) -> Iterator[int]:
        for new_year, days in self._years(first, last):
            for day in members(days):
                yield new_year + day

    def _has_day(self, day: int) -> bool:
        return any(days for _, days in self._years(day, day))

    def _years(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Years from `first` to `last`: their first day, and a mask of the days at which the rule fires."""
        for year in range(date_of(first).year, min(date_of(last).year, _LAST_YEAR) + 1):
            new_year = day_of(date(year, 1, 1))
            days = days_of_year(self.days, year)
            if self.interval > 1:
                days &= self._in_periods(year, new_year)
            if first > new_year:
                days &= ~below(first - new_year)
            if last < new_year + 365:
                days &= below(last - new_year + 1)
            yield new_year, days

    def _in_periods(self, year: int, new_year: int) -> int:
        """The days of a year that lie in the periods which INTERVAL picks."""
        start_day = self.start // DAY_SECONDS
        start, interval = date_of(start_day), self.interval
        match self.frequency:
            case Frequency.YEARLY:
                return 0 if (year - start.year) % interval else ALL_DAYS
            case Frequency.MONTHLY:
                passed = (year - start.year) * 12 - start.month + 1
                return union(
                    month.mask
                    for number, month in enumerate(months_of(year), passed)
                    if number % interval == 0
                )
            case Frequency.WEEKLY:
                week, step = self._period_of(start_day) - new_year, 7 * interval
                return union(shifted(below(7), at) for at in range(week % step - step, 366, step))
            case Frequency.DAILY:
                return mask_of(range((start_day - new_year) % interval, 366, interval))
            case _:
                return ALL_DAYS

    def _times_on(self, day: int) -> Sequence[int]:
        return self._drifting_times(day) if self.times is None else self.times

    def _fixed_times(self) -> Sequence[int] | None:
        step = STEP.get(self.frequency, 0) * self.interval
        if not step:
            return self._spread(self.hours)
        if DAY_SECONDS % step:
            return None
        if not self.limited:
            return self._drifting_times(self.start // DAY_SECONDS)
        unit = STEP[self.frequency]
        begins = range(self.start % DAY_SECONDS // unit * unit % step, DAY_SECONDS, step)
        kept = [b for b in begins if self._keeps(b)]
        return sorted(b + s for b in kept for s in self._spread(()))

    def _drifting_times(self, day: int) -> Sequence[int]:
        """The steps of a rule below a day that fall on that day, unlimited by BY parts of its own unit or above."""
        step, offsets = STEP[self.frequency] * self.interval, self._spread(())
        first = (self._first_step - day * DAY_SECONDS) % step
        if len(offsets) == 1:
            return range(first + offsets[0], DAY_SECONDS, step)
        return [begin + offset for begin in range(first, DAY_SECONDS, step) for offset in offsets]

    def _count_steps(self, start: int, end: int) -> int:
        """How many of those lie in [start, end): by division."""
        step, first = STEP[self.frequency] * self.interval, self._first_step
        return sum(
            (start - first - offset) // -step - (end - first - offset) // -step for offset in self._spread(())
        )

    @property
    def _first_step(self) -> int:
        unit = STEP[self.frequency]
        return self.start // unit * unit

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
        unit = STEP.get(self.frequency, DAY_SECONDS)
        minutes = self.minutes if unit > 60 else ()
        seconds = self.seconds if unit > 1 else ()
        return sorted(
            h * 3600 + m * 60 + s for h in hours or (0,) for m in minutes or (0,) for s in seconds or (0,)
        )
