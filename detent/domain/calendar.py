"""Exclusion calendars: the dates and weekly windows, in a zone, at which slots become omissions.

Dates and windows are merged once into stretches of wall time, so a question costs two binary searches however many
windows somebody wrote, and windows that touch are left in one leap.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final, NamedTuple

from detent.domain.bits import members
from detent.domain.days import DAY_SECONDS, day_of
from detent.domain.instant import ceil_seconds, instant_of, seconds_of
from detent.domain.zone import Zone

_WEEK: Final = 7 * DAY_SECONDS
_THURSDAY: Final = 4 * DAY_SECONDS
"""1970-01-01 was one; weeks begin on Sunday here."""
_FAR: Final = 1 << 62


class DateRange(NamedTuple):
    """Whole days, both ends included."""

    first: date
    last: date


class WeeklyWindow(NamedTuple):
    """On these weekdays (a mask, Sunday is 0) from a second of the day, for so many seconds, perhaps past midnight."""

    weekdays: int
    start: int
    length: int


class Stretch(NamedTuple):
    """Seconds [low, high) of wall time: since 1970 for dates, since Sunday 00:00 for windows."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Calendar:
    """What a schedule leaves out. Judged by what the zone's wall clock shows at the slot."""

    zone: Zone
    ranges: tuple[DateRange, ...] = ()
    windows: tuple[WeeklyWindow, ...] = ()
    dates: Sequence[Stretch] = field(init=False, compare=False, repr=False)
    week: Sequence[Stretch] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        dates = (
            Stretch(day_of(r.first) * DAY_SECONDS, (day_of(r.last) + 1) * DAY_SECONDS) for r in self.ranges
        )
        object.__setattr__(self, "dates", _merged(dates))
        object.__setattr__(self, "week", _merged(_of_a_week(self.windows)))

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
            for low, high in self._stretches(first + offset, until + offset):
                yield max(start, instant_of(low - offset)), min(end, instant_of(high - offset))
            first, span = until, span + 1

    def _end_of(self, wall: int) -> int | None:
        """Until when the stretch lasts in which this wall time lies; None if it lies in none."""
        second = (wall + _THURSDAY) % _WEEK
        date_end, week_end = _end(self.dates, wall), _end(self.week, second)
        if week_end is None:
            return date_end
        week_end += wall - second
        return week_end if date_end is None else max(week_end, date_end)

    def _stretches(self, low: int, high: int) -> Iterator[tuple[int, int]]:
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
        second = (wall + _THURSDAY) % _WEEK
        date_at, week_at = _place(self.dates, wall), _place(self.week, second)
        begins = [self.dates[date_at].low] if date_at < len(self.dates) else []
        if week_at < len(self.week):
            begins.append(wall - second + self.week[week_at].low)
        elif self.week:
            begins.append(wall - second + _WEEK + self.week[0].low)
        return min((begin for begin in begins if begin < high), default=None)


def _of_a_week(windows: Iterable[WeeklyWindow]) -> Iterator[Stretch]:
    """The windows of one week; what reaches into the next is cut off and stands at the front."""
    for window in windows:
        for weekday in members(window.weekdays):
            begin = (weekday * DAY_SECONDS + window.start) % _WEEK
            end = begin + min(window.length, _WEEK)
            yield Stretch(begin, min(end, _WEEK))
            if end > _WEEK:
                yield Stretch(0, end - _WEEK)


def _merged(stretches: Iterable[Stretch]) -> Sequence[Stretch]:
    """In order, and those that overlap or touch as one."""
    found: list[Stretch] = []
    for stretch in sorted(stretches):
        if found and stretch.low <= found[-1].high:
            found[-1] = Stretch(found[-1].low, max(found[-1].high, stretch.high))
        else:
            found.append(stretch)
    return found


def _place(stretches: Sequence[Stretch], at: int) -> int:
    """How many stretches begin at or before that second."""
    return bisect_right(stretches, (at, _FAR))


def _end(stretches: Sequence[Stretch], at: int) -> int | None:
    """The end of the stretch in which that second lies."""
    place = _place(stretches, at)
    return stretches[place - 1].high if place and at < stretches[place - 1].high else None
