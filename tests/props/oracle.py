"""The judge: which instants fire, found by stepping through real time and asking at each.

It shares nothing with the engine: zone rules come from the standard library's `zoneinfo` (on the pinned tzdata),
expressions from the generator as plain sets, and slots from brute force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Sets:
    """An expression as sets of numbers. `weekdays`: Sunday is 0."""

    text: str
    seconds: frozenset[int]
    minutes: frozenset[int]
    hours: frozenset[int]
    days: Callable[[datetime], bool]
    recurring: bool
    step: timedelta = timedelta(minutes=1)

    def matches(self, wall: datetime) -> bool:
        return (
            wall.minute in self.minutes
            and wall.hour in self.hours
            and wall.second in self.seconds
            and self.days(wall)
        )


def slots(sets: Sets, zone: str, start: datetime, end: datetime, gap: str, fold: str) -> list[datetime]:
    """All slots in [start, end)."""
    where = ZoneInfo(zone)
    # A gap of a whole day is the longest; its wall times must be among those that are looked at.
    reach = timedelta(hours=26 if sets.step > timedelta(seconds=1) else 3)
    shown: dict[datetime, list[datetime]] = {}
    for instant in _steps(start - reach, end + reach, sets.step):
        shown.setdefault(_wall(instant, where), []).append(instant)
    if sets.recurring:
        found = {i for wall, instants in shown.items() if sets.matches(wall) for i in instants}
    else:
        found = set()
        for wall in _steps(min(shown), max(shown), sets.step):
            if sets.matches(wall):
                found.update(_fixed(wall, shown.get(wall), where, gap, fold))
    return sorted(i for i in found if start <= i < end)


def _fixed(
    wall: datetime, instants: list[datetime] | None, where: ZoneInfo, gap: str, fold: str
) -> Iterable[datetime]:
    if instants is not None:
        return {"first": instants[:1], "last": instants[-1:], "both": instants}[fold]
    if gap == "skip":
        return []
    before = _last_instant_before(wall, where)
    offset = before.astimezone(where).utcoffset()
    assert offset is not None
    if gap == "shift":
        return [(wall - offset).replace(tzinfo=UTC)]
    return [before + timedelta(seconds=1)]


def _last_instant_before(wall: datetime, where: ZoneInfo) -> datetime:
    """The last second before the gap in which this wall time lies, by halving."""
    low, high = (wall.replace(tzinfo=UTC) + side * 2 * DAY for side in (-1, 1))
    while high - low > timedelta(seconds=1):
        middle = (low + (high - low) / 2).replace(microsecond=0)
        low, high = (middle, high) if _wall(middle, where) < wall else (low, middle)
    return low


def _wall(instant: datetime, where: ZoneInfo) -> datetime:
    return instant.astimezone(where).replace(tzinfo=None, fold=0)


def _steps(start: datetime, end: datetime, step: timedelta) -> Iterable[datetime]:
    while start < end:
        yield start
        start += step
