"""Exclusion calendars: the dates and weekly windows, in a zone, at which slots become omissions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, NamedTuple

from detent.domain.instant import ceil_seconds, instant_of, seconds_of
from detent.domain.zone import Zone

_DAY: Final = 86_400
_EPOCH_ORDINAL: Final = date(1970, 1, 1).toordinal()


class DateRange(NamedTuple):
    """Whole days, both ends included."""

    first: date
    last: date


class WeeklyWindow(NamedTuple):
    """On these weekdays (a mask, Sunday is 0) from a second of the day, for so many seconds, perhaps past midnight."""

    weekdays: int
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class Calendar:
    """What a schedule leaves out. Judged by what the zone's wall clock shows at the slot."""

    zone: Zone
    ranges: tuple[DateRange, ...] = ()
    windows: tuple[WeeklyWindow, ...] = ()

    def excludes(self, instant: datetime) -> bool:
        second = seconds_of(instant)
        return self._end_of(second + self.zone.offset_at(second)) is not None

    def clear_from(self, instant: datetime) -> datetime:
        """An instant after this excluded one, such that everything between is excluded too."""
        second = seconds_of(instant)
        span = self.zone.span_at(second)
        end = self._end_of(second + self.zone.offsets[span])
        assert end is not None
        return instant_of(min(end - self.zone.offsets[span], self.zone.end_of(span)))

    def intervals(self, start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
        """The excluded parts of [start, end), in order and without overlap."""
        first, last = seconds_of(start), ceil_seconds(end)
        span = self.zone.span_at(first)
        while first < last:
            offset, until = self.zone.offsets[span], min(self.zone.end_of(span), last)
            for low, high in self._merged(first + offset, until + offset):
                yield max(start, instant_of(low - offset)), min(end, instant_of(high - offset))
            first, span = until, span + 1

    def _end_of(self, wall: int) -> int | None:
        """Until when the exclusion lasts in which this wall time lies; None if it lies in none."""
        day, second = divmod(wall, _DAY)
        ends = [(_day(r.last) + 1) * _DAY for r in self.ranges if _day(r.first) <= day <= _day(r.last)]
        for window in self.windows:
            for back in range((window.start + window.length - 1) // _DAY + 1):
                begin = -back * _DAY + window.start
                if window.weekdays >> _weekday(day - back) & 1 and 0 <= second - begin < window.length:
                    ends.append(day * _DAY + begin + window.length)
        return max(ends, default=None)

    def _merged(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        wall = low
        while wall < high:
            begin = self._next_begin(wall, high)
            if begin is None:
                return
            end: int | None = begin
            wall = begin
            while end is not None and wall < high:
                end = self._end_of(wall)
                wall = wall if end is None else end
            yield begin, min(wall, high)

    def _next_begin(self, wall: int, high: int) -> int | None:
        """The first excluded wall time at or after `wall` and before `high`."""
        if self._end_of(wall) is not None:
            return wall
        begins = [_day(r.first) * _DAY for r in self.ranges]
        begins += [
            day * _DAY + window.start
            for window in self.windows
            for day in range(wall // _DAY, wall // _DAY + 8)
            if window.weekdays >> _weekday(day) & 1
        ]
        return min((b for b in begins if wall <= b < high), default=None)


def _day(when: date) -> int:
    return when.toordinal() - _EPOCH_ORDINAL


def _weekday(day: int) -> int:
    return (day + 4) % 7
