"""A cron expression: which wall times it names.

An expression knows wall clocks only; what a gap or a fold does to its times is decided in `wallclock.py`.
A wall time is a count of seconds since 1970-01-01 00:00 on the wall, so a day is always 86,400 long here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise
from typing import Final

from detent.domain.bits import below, lowest, members
from detent.domain.cron.field import Field
from detent.domain.cron.members import ALL_MONTHS, Month, Span, days_of, days_on
from detent.domain.cron.units import YEAR
from detent.domain.days import DAY_SECONDS, EPOCH_ORDINAL, LEAP_MONTH_LENGTHS, MONTH_LENGTHS, is_leap

_ALL_DAYS: Final = below(32) - 1
_ALL_MONTHS: Final = below(13) - 1
_EVERY_YEAR: Final = Span(YEAR.low, YEAR.high, star=True)


@dataclass(frozen=True, slots=True, repr=False)
class Cron:
    """Seven fields and, if one of them has an `H`, the identity that picks for it."""

    second: Field
    minute: Field
    hour: Field
    day: Field
    month: Field
    weekday: Field
    year: Field
    identity: str = ""
    seconds: int = field(init=False, compare=False)
    minutes: int = field(init=False, compare=False)
    hours: int = field(init=False, compare=False)
    days: int = field(init=False, compare=False)
    months: int = field(init=False, compare=False)
    weekdays: int = field(init=False, compare=False)
    years: int = field(init=False, compare=False)
    """0 stands for every year, also those that the field can't name."""
    daily: bool = field(init=False, compare=False)
    """Every day matches: the calendar need not be asked."""

    def __post_init__(self) -> None:
        put, identity = object.__setattr__, self.identity
        for name, part in (
            ("seconds", self.second),
            ("minutes", self.minute),
            ("hours", self.hour),
            ("days", self.day),
            ("months", self.month),
            ("weekdays", self.weekday),
        ):
            put(self, name, part.values(identity) if part.hashed else part.mask)
        any_year = any(member == _EVERY_YEAR for member in self.year.members)
        put(self, "years", 0 if any_year else self.year.mask)
        all_days = self.days == _ALL_DAYS and self.weekdays == below(7)
        put(self, "daily", any_year and all_days and self.months == _ALL_MONTHS)

    @property
    def recurring(self) -> bool:
        """Recurs by a wildcard minute or hour: DST policies don't apply, every real hour counts."""
        return self.minute.covers or self.hour.covers

    def text(self) -> str:
        """The canonical spelling: it reads back as an equal expression."""
        fields = [self.second, self.minute, self.hour, self.day, self.month, self.weekday, self.year]
        if self.year.text() == "*":
            fields.pop()
            if self.second.text() == "0":
                del fields[0]
        return " ".join(f.text() for f in fields)

    def __repr__(self) -> str:
        return f"Cron({self.text()!r})"

    def next_wall(self, wall: int, limit: int) -> int | None:
        """The first matching wall time at or after `wall` and before `limit`."""
        day, second = divmod(wall, DAY_SECONDS)
        if self.daily or self._has_day(day):
            found = self._next_second_of_day(second)
            if found >= 0:
                wall = day * DAY_SECONDS + found
                return wall if wall < limit else None
        next_day = day + 1 if self.daily else self._next_day(day + 1, limit // DAY_SECONDS)
        if next_day is None:
            return None
        wall = next_day * DAY_SECONDS + self._next_second_of_day(0)
        return wall if wall < limit else None

    def count_walls(self, start: int, end: int) -> int:
        """How many matching wall times lie in [start, end). Days are multiplied, not walked."""
        if start >= end:
            return 0
        first, before = divmod(start, DAY_SECONDS)
        last, rest = divmod(end, DAY_SECONDS)
        a_day = self.seconds.bit_count() * self.minutes.bit_count() * self.hours.bit_count()
        total = self._count_days(first, last) * a_day
        if before and self._has_day(first):
            total -= self._count_seconds_of_day(before)
        if rest and self._has_day(last):
            total += self._count_seconds_of_day(rest)
        return total

    def shortest_gap(self) -> int:
        """The least number of seconds that can lie between two matching wall times."""
        gaps, spread = [], 0
        for mask, unit in ((self.seconds, 1), (self.minutes, 60), (self.hours, 3600)):
            values = list(members(mask))
            gaps += [(b - a) * unit - spread for a, b in pairwise(values)]
            spread += (values[-1] - values[0]) * unit
        return min([*gaps, DAY_SECONDS - spread])

    def never(self) -> bool:
        """No month of any year has such a day (30 February): asked once, at registration."""
        return not any(
            self._days_in(month)
            for number in members(self.months)
            for month in ALL_MONTHS
            if month.length in (MONTH_LENGTHS[number], LEAP_MONTH_LENGTHS[number])
        )

    def _next_second_of_day(self, second: int) -> int:
        """The first matching second of a day at or after `second`, or -1."""
        hour, rest = divmod(second, 3600)
        if self.hours >> hour & 1:
            minute, second = divmod(rest, 60)
            if self.minutes >> minute & 1:
                later = self.seconds >> second
                if later:
                    return hour * 3600 + minute * 60 + second + lowest(later)
            later = self.minutes >> minute + 1
            if later:
                return hour * 3600 + (minute + 1 + lowest(later)) * 60 + lowest(self.seconds)
        later = self.hours >> hour + 1
        if later:
            hour += 1 + lowest(later)
            return hour * 3600 + lowest(self.minutes) * 60 + lowest(self.seconds)
        return -1

    def _count_seconds_of_day(self, end: int) -> int:
        """How many seconds of a day match before second `end`."""
        hour, rest = divmod(end, 3600)
        minute, second = divmod(rest, 60)
        seconds, minutes = self.seconds.bit_count(), self.minutes.bit_count()
        count = (self.hours & below(hour)).bit_count() * minutes * seconds
        if self.hours >> hour & 1:
            count += (self.minutes & below(minute)).bit_count() * seconds
            if self.minutes >> minute & 1:
                count += (self.seconds & below(second)).bit_count()
        return count

    def _has_day(self, day: int) -> bool:
        if self.daily:
            return True
        when = date.fromordinal(day + EPOCH_ORDINAL)
        if not (self.months >> when.month & 1 and self._has_year(when.year)):
            return False
        return bool(self._days_in(_month_of(when)) >> when.day & 1)

    def _next_day(self, day: int, last: int) -> int | None:
        """The first matching day at or after `day`, none after `last`."""
        when = date.fromordinal(day + EPOCH_ORDINAL)
        year, month, number = when.year, when.month, when.day
        while True:
            if self.months >> month & 1 and self._has_year(year):
                first = date(year, month, 1)
                days = self._days_in(_month_of(first)) >> number
                if days:
                    return first.toordinal() - EPOCH_ORDINAL - 1 + number + lowest(days)
            later = self.months >> month + 1
            if later:
                month += 1 + lowest(later)
            else:
                year, month = year + 1, lowest(self.months)
            number = 1
            if (year - 1970) * 365 > last:
                return None

    def _count_days(self, start: int, end: int) -> int:
        """How many days match in [start, end)."""
        if self.daily or start >= end:
            return max(0, end - start)
        total, day = 0, date.fromordinal(start + EPOCH_ORDINAL)
        stop = date.fromordinal(end + EPOCH_ORDINAL)
        while day < stop:
            month = _month_of(day)
            until = month.length + 1 if (day.year, day.month) < (stop.year, stop.month) else stop.day
            if self.months >> day.month & 1 and self._has_year(day.year):
                total += (self._days_in(month) & below(until) & ~below(day.day)).bit_count()
            day = date(day.year + day.month // 12, day.month % 12 + 1, 1)
        return total

    def _has_year(self, year: int) -> bool:
        return not self.years or self.years >> year & 1 == 1

    def _days_in(self, month: Month) -> int:
        """Vixie's rule: the two day fields are ORed, unless one of them begins with a star."""
        length = below(month.length + 1)
        by_day = self.days & length
        for day_member in self.day.days:
            by_day |= days_of(day_member, month)
        by_weekday = days_on(self.weekdays, month.first_weekday) & length
        for weekday_member in self.weekday.days:
            by_weekday |= days_of(weekday_member, month)
        if self.day.star or self.weekday.star:
            return by_day & by_weekday
        return by_day | by_weekday


def _month_of(when: date) -> Month:
    leap = when.month == 2 and is_leap(when.year)
    length = (LEAP_MONTH_LENGTHS if leap else MONTH_LENGTHS)[when.month]
    return Month((when.isoweekday() - when.day + 1) % 7, length)
