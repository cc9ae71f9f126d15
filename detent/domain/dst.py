"""Which changes of the clock affect a schedule, and what happens to it on each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from detent.domain.days import DAY_SECONDS
from detent.domain.instant import ceil_seconds, format_instant, instant_of, seconds_of
from detent.domain.wallclock import Fold, Gap, Pattern, WallClock
from detent.domain.words import and_list, clock

_SHOWN: Final = 3
_HOUR: Final = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockChange:
    """A change of the clock that skips or repeats wall times of a schedule."""

    at: datetime
    kind: str
    """`gap` or `fold`."""
    local_date: str
    message: str


def clock_changes(rule: WallClock, start: datetime, end: datetime) -> Iterator[ClockChange]:
    """Those in [start, end) that matter. Whoever fires every hour of the day doesn't notice a whole hour."""
    zone = rule.zone
    first, last = ceil_seconds(start), seconds_of(end)
    for span in range(zone.span_at(first) + 1, len(zone.starts)):
        at = zone.starts[span]
        if at >= last:
            return
        before, after = zone.offsets[span - 1], zone.offsets[span]
        low, high = sorted((at + before, at + after))
        if (high - low) % _HOUR == 0 and rule.pattern.recurring and _every_hour(rule.pattern, low):
            continue
        touched = list(islice(_walls(rule.pattern, low, high), _SHOWN + 1))
        if touched:
            kind, effect = ("gap", _gap(rule, at)) if after > before else ("fold", _fold(rule))
            day = format_instant(instant_of(low))[:10]
            what = _what(rule.pattern, touched, low, high, is_gap=after > before)
            yield ClockChange(
                at=instant_of(at),
                kind=kind,
                local_date=day,
                message=f"{day}: {what} in {zone.name}: {effect}",
            )


def _every_hour(pattern: Pattern, wall: int) -> bool:
    """Does it fire as often in each hour of that day?"""
    midnight = wall - wall % DAY_SECONDS
    return (
        len({pattern.count_walls(at, at + _HOUR) for at in range(midnight, midnight + DAY_SECONDS, _HOUR)})
        == 1
    )


def _what(pattern: Pattern, walls: list[int], low: int, high: int, *, is_gap: bool) -> str:
    names = [clock(wall % DAY_SECONDS) for wall in walls[:_SHOWN]]
    if len(walls) > _SHOWN:
        names.append(f"{pattern.count_walls(low, high) - _SHOWN} more")
    one, many = ("does not exist", "do not exist") if is_gap else ("comes twice", "come twice")
    return f"{and_list(names)} {one if len(names) == 1 else many}"


def _walls(pattern: Pattern, low: int, high: int) -> Iterator[int]:
    while (found := pattern.next_wall(low, high)) is not None:
        yield found
        low = found + 1


def _gap(rule: WallClock, at: int) -> str:
    if rule.pattern.recurring:
        return "nothing is made up, it goes on with the next time that exists"
    match rule.gap:
        case Gap.AT_TRANSITION:
            begin = clock((at + rule.zone.offset_at(at)) % DAY_SECONDS)
            return f"fires once at {begin}, the first moment after the gap ({format_instant(instant_of(at))})"
        case Gap.SHIFT:
            return "fires as much later as the clock is put forward"
        case Gap.SKIP:
            return "does not fire"


def _fold(rule: WallClock) -> str:
    if rule.pattern.recurring:
        return "fires both times"
    match rule.fold:
        case Fold.FIRST:
            return "fires the first time only"
        case Fold.LAST:
            return "fires the second time only"
        case Fold.BOTH:
            return "fires both times"
