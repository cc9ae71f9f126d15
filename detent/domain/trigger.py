"""Triggers: when a schedule's slots are.

A *rule* (cron or a recurrence rule on a wall clock, every, at) yields instants. A *trigger* is a rule with bounds
and an exclusion calendar. *Triggers*, the list that a schedule has, are the union: two that yield the same instant
yield one slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from detent.domain.at import At
from detent.domain.calendar import Calendar
from detent.domain.errors import TooManySlots
from detent.domain.every import Every
from detent.domain.instant import MILLISECOND, just_before
from detent.domain.limits import HORIZON, LATEST, MAX_LEAPS, MAX_WALK
from detent.domain.wallclock import WallClock

Rule = WallClock | Every | At
_FIRST_LOOK: Final = timedelta(minutes=1)


class Slot(NamedTuple):
    at: datetime
    excluded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """A rule between `start_at` (included) and `end_at` (not included), without what the calendar excludes."""

    rule: Rule
    start_at: datetime | None = None
    end_at: datetime | None = None
    exclude: Calendar | None = None

    def next(self, after: datetime) -> datetime | None:
        """The first slot strictly after that is not excluded, or None if there is none within 50 years.

        None too after MAX_LEAPS excluded stretches in a row: windows that hit every slot of a minute job, but not
        the minutes between, would otherwise be leapt over one by one for 50 years.
        """
        slot, horizon = self._next_any(after), min(after + HORIZON, LATEST)
        if self.exclude is None:
            return slot
        for _ in range(MAX_LEAPS):
            if slot is None or not self.exclude.excludes(slot):
                return slot
            slot = self._next_any(just_before(self.exclude.clear_from(slot)))
            if slot is not None and slot >= horizon:
                return None
        return None

    def upcoming(self, after: datetime) -> Iterator[datetime]:
        """The next slots that are not excluded, one by one."""
        slot = self.next(after)
        while slot is not None:
            yield slot
            slot = self.next(slot)

    def previous(self, before: datetime) -> datetime | None:
        """The last slot strictly before that is not excluded."""
        if self.exclude is None and not isinstance(self.rule, WallClock):
            end = before if self.end_at is None else min(before, self.end_at)
            slot = self.rule.previous(end)
            return slot if slot is None or self.start_at is None or slot >= self.start_at else None
        return latest_before(self.next, before)

    def count(self, start: datetime, end: datetime) -> int:
        """How many slots lie in [start, end), excluded ones left out."""
        start = start if self.start_at is None else max(start, self.start_at)
        end = end if self.end_at is None else min(end, self.end_at)
        if start >= end:
            return 0
        total = self.rule.count(start, end)
        if self.exclude is None or not total:
            return total
        for walked, part in enumerate(self.exclude.intervals(start, end)):
            if walked >= MAX_WALK:
                raise TooManySlots(f"more than {MAX_WALK} excluded stretches: count a shorter range")
            total -= self.rule.count(*part)
        return total

    def slots(self, start: datetime, end: datetime) -> Iterator[Slot]:
        """All slots in [start, end), the excluded ones marked."""
        slot = self._next_any(just_before(start))
        while slot is not None and slot < end:
            yield Slot(slot, self.exclude is not None and self.exclude.excludes(slot))
            slot = self._next_any(slot)

    def _next_any(self, after: datetime) -> datetime | None:
        if self.start_at is not None and after < self.start_at:
            after = just_before(self.start_at)
        slot = self.rule.next(after)
        if slot is None or (self.end_at is not None and slot >= self.end_at):
            return None
        return slot


@dataclass(frozen=True, slots=True)
class Triggers:
    """The union of a schedule's triggers, and how many firings it may have in all."""

    each: tuple[Trigger, ...]
    max_firings: int | None = None

    def next(self, after: datetime, fired: int = 0) -> datetime | None:
        """The first slot strictly after; None too once `fired` firings have used up `max_firings`."""
        if self.max_firings is not None and fired >= self.max_firings:
            return None
        if len(self.each) == 1:
            return self.each[0].next(after)
        return min(filter(None, (trigger.next(after) for trigger in self.each)), default=None)

    def upcoming(self, after: datetime, count: int, fired: int = 0) -> Iterator[datetime]:
        """The next slots, at most `count`."""
        for _ in range(count):
            slot = self.next(after, fired)
            if slot is None:
                return
            yield slot
            after, fired = slot, fired + 1

    def previous(self, before: datetime) -> datetime | None:
        return max(filter(None, (trigger.previous(before) for trigger in self.each)), default=None)

    def slots(self, start: datetime, end: datetime) -> Iterator[Slot]:
        """All slots in [start, end). One is excluded if every trigger that yields it excludes it."""
        streams = [trigger.slots(start, end) for trigger in self.each]
        heads = [next(stream, None) for stream in streams]
        while any(heads):
            at = min(head.at for head in heads if head is not None)
            here = [n for n, head in enumerate(heads) if head is not None and head.at == at]
            yield Slot(at, all(head.excluded for n in here if (head := heads[n]) is not None))
            for n in here:
                heads[n] = next(streams[n], None)

    def count(self, start: datetime, end: datetime) -> int:
        """How many slots lie in [start, end), excluded ones left out. Unions are walked, single triggers are not."""
        if len(self.each) == 1:
            return self.each[0].count(start, end)
        if sum(trigger.count(start, end) for trigger in self.each) > MAX_WALK:
            raise TooManySlots(f"more than {MAX_WALK} slots of several triggers: count a shorter range")
        return sum(not slot.excluded for slot in self.slots(start, end))


def latest_before(next_after: Callable[[datetime], datetime | None], before: datetime) -> datetime | None:
    """The last slot strictly before, found by asking `next` alone: gallop back, then halve the distance.

    So `previous` can't contradict `next`, and a month of seconds is not walked.
    """
    distance, slot = _FIRST_LOOK, next_after(before - _FIRST_LOOK)
    while slot is None or slot >= before:
        if distance >= HORIZON:
            return None
        distance = min(8 * distance, HORIZON)
        slot = next_after(before - distance)
    empty_from = before
    while (later := next_after(slot)) is not None and later < before:
        slot = later
        while empty_from - slot > MILLISECOND:
            middle = slot + (empty_from - slot) / 2
            found = next_after(middle)
            if found is not None and found < before:
                slot = found
                break
            empty_from = middle
    return slot
