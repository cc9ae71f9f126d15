"""What can stand between the commas of a cron field, as values that print as they are read.

Masks are over the field's values; those of the two day fields are over weekdays 0-6 and over the days 1-31 of a
month, of which `Month` says all that matters: on which weekday it begins and how long it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, assert_never

from detent.domain.bits import below, mask_of
from detent.domain.cron.units import Unit
from detent.domain.stable import stable_hash

_FIVE_WEEKS: Final = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28


class Month(NamedTuple):
    first_weekday: int
    length: int


@dataclass(frozen=True, slots=True)
class Span:
    """`*`, `7`, `1-5`, `22-2`, `5/15`, `*/2`. A range that runs backwards wraps round."""

    first: int
    last: int
    step: int = 1
    star: bool = False

    def mask(self, unit: Unit) -> int:
        if self.first > self.last:
            length = unit.size + self.last - self.first + 1
            from_low = (self.first - unit.low + n for n in range(0, length, self.step))
            return mask_of(unit.low + n % unit.size for n in from_low)
        if self.step == 1:
            return below(self.last + 1) & ~below(self.first)
        return mask_of(range(self.first, self.last + 1, self.step))

    def covers(self, unit: Unit) -> bool:
        """Does it, step aside, cover the whole field?"""
        return (self.last - self.first + 1) % unit.size == 0

    def text(self) -> str:
        if self.star:
            body = "*"
        elif self.first == self.last:
            body = str(self.first)
        else:
            body = f"{self.first}-{self.last}"
        return body if self.step == 1 else f"{body}/{self.step}"


@dataclass(frozen=True, slots=True)
class Hashed:
    """`H`, `H(0-29)`, `H/15`: a value, or the start of a stepped range, that the schedule's identity picks."""

    first: int
    last: int
    step: int = 0
    whole: bool = False

    def picked(self, unit: Unit, identity: str) -> Span:
        number = stable_hash(identity, unit.name)
        if not self.step:
            value = self.first + number % (self.last - self.first + 1)
            return Span(value, value)
        start = self.first + number % min(self.step, self.last - self.first + 1)
        return Span(start, self.last, self.step)

    def text(self) -> str:
        body = "H" if self.whole else f"H({self.first}-{self.last})"
        return f"{body}/{self.step}" if self.step else body


@dataclass(frozen=True, slots=True)
class LastDay:
    """`L`, `L-3`: so many days before the last of the month."""

    before: int = 0

    def text(self) -> str:
        return f"L-{self.before}" if self.before else "L"


@dataclass(frozen=True, slots=True)
class NearestWeekday:
    """`15W`: the weekday (Monday to Friday) nearest to that day within the month; `LW`, day 0: the last one."""

    day: int = 0

    def text(self) -> str:
        return f"{self.day}W" if self.day else "LW"


@dataclass(frozen=True, slots=True)
class NthWeekday:
    """`2#1`, the first Tuesday; `5L`, the last Friday (nth 0)."""

    weekday: int
    nth: int = 0

    def text(self) -> str:
        return f"{self.weekday}#{self.nth}" if self.nth else f"{self.weekday}L"


DayMember = LastDay | NearestWeekday | NthWeekday
Member = Span | Hashed | DayMember


def days_of(member: DayMember, month: Month) -> int:
    """The days of that month, as a mask: one day or none."""
    match member:
        case LastDay(before):
            day = month.length - before
        case NearestWeekday(0):
            day = _nearest_weekday(month.length, month)
        case NearestWeekday(day):
            day = _nearest_weekday(day, month) if day <= month.length else 0
        case NthWeekday(weekday, 0):
            day = month.length - (month.first_weekday + month.length - 1 - weekday) % 7
        case NthWeekday(weekday, nth):
            day = 1 + (weekday - month.first_weekday) % 7 + 7 * (nth - 1)
            day = day if day <= month.length else 0
        case _:
            assert_never(member)
    return 1 << day if day > 0 else 0


def _nearest_weekday(day: int, month: Month) -> int:
    weekday = (month.first_weekday + day - 1) % 7
    if weekday == 6:
        return day - 1 if day > 1 else 3
    if weekday == 0:
        return day + 1 if day < month.length else day - 2
    return day


def days_on(weekdays: int, first_weekday: int) -> int:
    """The days 1-35 that fall on these weekdays in a month that begins on `first_weekday`."""
    rotated = (weekdays >> first_weekday | weekdays << 7 - first_weekday) & below(7)
    return rotated * _FIVE_WEEKS << 1


ALL_MONTHS: Final = tuple(Month(first, length) for length in (28, 29, 30, 31) for first in range(7))
