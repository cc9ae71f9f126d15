"""Zone rules that change: which schedules have slots that move, and from when on.

Governments change rules, a new tzdata package has them, and slots to come lie elsewhere. Rules of former packages are
kept as they were written down, as spans of some years, so that the old slots can be computed beside the new ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from detent.domain.calendar import Calendar
from detent.domain.instant import instant_of, seconds_of
from detent.domain.plan import Cadence
from detent.domain.trigger import Trigger, Triggers
from detent.domain.wallclock import WallClock
from detent.domain.zone import Zone

COMPARED: Final = timedelta(days=731)
"""How far ahead slots are compared. What moves later is computed by the new rules when its time comes, as always."""
KEPT: Final = timedelta(days=3660)
"""How far ahead rules are written down: as long as one package may serve, and COMPARED beyond."""
_HOUR: Final = 3600
_HOURS: Final = 8 * 24
"""Hours looked into one by one, from where rules begin to differ: a week has every combination of hour and weekday."""
_SLOTS: Final = 60
"""And slots from there: monthly ones and rarer."""
_SINCE_EVER: Final = -(1 << 62)


class Span(NamedTuple):
    """From a second on, so far ahead of UTC."""

    start: int
    offset: int


class Move(NamedTuple):
    """The first slot that the rules disagree on; None: the rule has no slot any more, or had none."""

    before: datetime | None
    after: datetime | None


def spans(zone: Zone, begin: datetime) -> list[Span]:
    """The rules of a zone from a moment on, to be written down."""
    first, last = zone.span_at(seconds_of(begin)), zone.span_at(seconds_of(begin + KEPT))
    return [Span(zone.starts[n], zone.offsets[n]) for n in range(first, last + 1)]


def from_spans(name: str, written: Sequence[Span]) -> Zone:
    starts = (_SINCE_EVER, *(span.start for span in written[1:]))
    return Zone(name, starts, tuple(span.offset for span in written))


def differences(one: Zone, other: Zone, begin: datetime) -> Iterator[tuple[int, int]]:
    """The stretches, in seconds since 1970, in which the two show different wall times."""
    at, until = seconds_of(begin), seconds_of(begin + COMPARED)
    while at < until:
        ends = min(one.end_of(one.span_at(at)), other.end_of(other.span_at(at)), until)
        if one.offset_at(at) != other.offset_at(at):
            yield at, ends
        at = ends


def zones_of(triggers: Triggers) -> set[Zone]:
    found = {trigger.rule.zone for trigger in triggers.each if isinstance(trigger.rule, WallClock)}
    return found | {trigger.exclude.zone for trigger in triggers.each if trigger.exclude is not None}


def under(cadence: Cadence, zones: Mapping[str, Zone]) -> Cadence:
    """The same cadence by the rules of these zones; those that are not among them keep theirs."""
    each = tuple(_under(trigger, zones) for trigger in cadence.triggers.each)
    return replace(cadence, triggers=Triggers(each, cadence.triggers.max_firings))


def first_move(before: Cadence, after: Cadence, begin: datetime) -> Move | None:
    """Where the slots of the two begin to differ: found by asking both at each hour that matters, and slot by slot."""
    for start, end in sorted(_stretches(before.triggers, after.triggers, begin)):
        hours = range(start - _HOUR, min(end, start + _HOURS * _HOUR), _HOUR)
        for moment in (max(begin, instant_of(second)) for second in hours):
            move = Move(before.triggers.next(moment), after.triggers.next(moment))
            if move.before != move.after:
                return move
        at: datetime | None = max(begin, instant_of(start))
        for _ in range(_SLOTS):
            if at is None:
                break
            move = Move(before.triggers.next(at), after.triggers.next(at))
            if move.before != move.after:
                return move
            at = move.before
    return None


def _stretches(before: Triggers, after: Triggers, begin: datetime) -> set[tuple[int, int]]:
    new = {zone.name: zone for zone in zones_of(after)}
    return {part for zone in zones_of(before) for part in differences(zone, new[zone.name], begin)}


def _under(trigger: Trigger, zones: Mapping[str, Zone]) -> Trigger:
    rule, exclude = trigger.rule, trigger.exclude
    if isinstance(rule, WallClock):
        rule = replace(rule, zone=zones.get(rule.zone.name, rule.zone))
    if exclude is not None:
        exclude = Calendar(zones.get(exclude.zone.name, exclude.zone), exclude.ranges, exclude.windows)
    return replace(trigger, rule=rule, exclude=exclude)
