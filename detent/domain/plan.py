"""From a schedule's cursor to promises and omissions: the one function that decides which slots fire.

Every slot before the new cursor is a promise or lies in an omission:

* slots before `as_of` have passed unplanned, and the misfire policy decides: the newest, the newest few, or none;
  what is older than the grace never fires late;
* slots from `as_of` to `until` are promised as they come;
* slots that the calendar excludes are omissions with that reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby, islice
from typing import Final, NamedTuple

from detent.domain.errors import TooManySlots
from detent.domain.instant import MILLISECOND, just_before
from detent.domain.limits import LATEST
from detent.domain.spread import Spread
from detent.domain.trigger import Triggers

MAX_PROMISES: Final = 1_000
"""Of one schedule in one plan: a look-ahead of a schedule that fires every 30 ms. The rest follows in the next tick."""
MAX_EXCLUDED: Final = 1_000
"""Excluded slots looked at one by one; more are one range, counted by the auditor."""
MAX_COUNTED: Final = 1_000
"""Slots of several triggers counted one by one: a planner has others to look after."""


class MisfirePolicy(StrEnum):
    FIRE_LATEST = "fire_latest"
    FIRE_ALL = "fire_all"
    SKIP = "skip"


class Kind(StrEnum):
    SLOT = "slot"
    CATCH_UP = "catch_up"
    MANUAL = "manual"
    BACKFILL = "backfill"
    RERUN = "rerun"


class Reason(StrEnum):
    """Why slots deliberately did not become firings."""

    MISFIRE = "misfire"
    GRACE = "grace"
    EXCLUDED = "excluded"
    PAUSED = "paused"
    EDITED = "edited"
    DELETED = "deleted"
    SKIPPED = "skipped"
    PARKED = "parked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfire:
    policy: MisfirePolicy = MisfirePolicy.FIRE_LATEST
    cap: int = 10
    grace: timedelta = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cadence:
    """What the planner needs to know of a schedule."""

    triggers: Triggers
    spread: Spread
    misfire: Misfire


class Promise(NamedTuple):
    slot: datetime
    kind: Kind


class Omission(NamedTuple):
    """Slots in [start, end) that don't fire. How many, `slots`, is None where counting would mean walking far."""

    start: datetime
    end: datetime
    reason: Reason
    slots: int | None


class Plan(NamedTuple):
    promises: list[Promise]
    omissions: list[Omission]
    next_at: datetime | None
    """The first slot that is not planned yet; None if there will never be another."""


def plan(cadence: Cadence, next_at: datetime, fired: int, *, as_of: datetime, until: datetime) -> Plan:
    """Plans from the cursor `next_at`, which is a slot or lies before one, to `until`, both included."""
    triggers = cadence.triggers
    left = MAX_PROMISES if triggers.max_firings is None else min(MAX_PROMISES, triggers.max_firings - fired)
    promises: list[Promise] = []
    omissions: list[Omission] = []
    fresh_from = next_at
    if next_at < as_of:
        late = _late(cadence, next_at, as_of, left)
        promises = [Promise(slot, Kind.CATCH_UP) for slot in late]
        omissions += _misfired(cadence, next_at, as_of, late)
        fresh_from = as_of
    slot = triggers.next(just_before(fresh_from), fired + len(promises))
    while slot is not None and slot <= until and len(promises) < left:
        promises.append(Promise(slot, Kind.SLOT))
        slot = triggers.next(slot, fired + len(promises))
    if _excludes(triggers):
        planned_to = slot if slot is not None and slot <= until else max(fresh_from, until + MILLISECOND)
        omissions += excluded(triggers, fresh_from, planned_to)
        if slot is not None or triggers.max_firings is None or fired + len(promises) < triggers.max_firings:
            slot = _back_to_excluded(triggers, slot, planned_to)
    return Plan(promises, omissions, slot)


def _late(cadence: Cadence, start: datetime, as_of: datetime, left: int) -> list[datetime]:
    """The passed slots that still fire, oldest first."""
    misfire = cadence.misfire
    most = {MisfirePolicy.SKIP: 0, MisfirePolicy.FIRE_LATEST: 1, MisfirePolicy.FIRE_ALL: misfire.cap}[
        misfire.policy
    ]
    oldest = max(start, as_of - misfire.grace)
    late: list[datetime] = []
    before = as_of
    while len(late) < min(most, left):
        slot = cadence.triggers.previous(before)
        if slot is None or slot < oldest:
            break
        late.append(slot)
        before = slot
    return late[::-1]


def _misfired(cadence: Cadence, start: datetime, as_of: datetime, late: list[datetime]) -> Iterator[Omission]:
    """The passed slots that don't fire any more: too old first, then by policy."""
    triggers = cadence.triggers
    young = max(start, as_of - cadence.misfire.grace)
    yield from omitted(triggers, start, young, Reason.GRACE)
    yield from omitted(triggers, young, late[0] if late else as_of, Reason.MISFIRE)
    if _excludes(triggers) and late:
        yield from excluded(triggers, late[0], as_of)


def omitted(triggers: Triggers, start: datetime, end: datetime, reason: Reason) -> Iterator[Omission]:
    """The range, if a slot lies in it that would have fired; excluded slots in it share its fate and its reason."""
    if start >= end:
        return
    count = _count(triggers, start, end)
    if count != 0:
        yield Omission(start, end, reason, count)
    elif _excludes(triggers):
        yield from excluded(triggers, start, end)


def _count(triggers: Triggers, start: datetime, end: datetime) -> int | None:
    """None where counting would mean walking far: 0 means that there is none."""
    first = triggers.next(just_before(start))
    if first is None or first >= end:
        return 0
    try:
        if len(triggers.each) > 1 and sum(each.count(start, end) for each in triggers.each) > MAX_COUNTED:
            return None
        return triggers.count(start, end)
    except TooManySlots:
        return None


def excluded(triggers: Triggers, start: datetime, end: datetime) -> Iterator[Omission]:
    """The runs of excluded slots in [start, end), each as a range."""
    if start >= end:
        return
    slots = list(islice(triggers.slots(start, end), MAX_EXCLUDED + 1))
    if len(slots) > MAX_EXCLUDED:
        yield Omission(start, end, Reason.EXCLUDED, None)
        return
    for is_excluded, run in groupby(slots, key=lambda slot: slot.excluded):
        each = [slot.at for slot in run]
        if is_excluded:
            yield Omission(each[0], each[-1] + MILLISECOND, Reason.EXCLUDED, len(each))


def _back_to_excluded(triggers: Triggers, slot: datetime | None, planned_to: datetime) -> datetime | None:
    """The cursor stops at the first excluded slot beyond the window, so that its omission is recorded in its time, even
    if no other slot is to come."""
    first = next(triggers.slots(planned_to, slot or LATEST), None)
    return slot if first is None else first.at


def _excludes(triggers: Triggers) -> bool:
    return any(trigger.exclude is not None for trigger in triggers.each)
