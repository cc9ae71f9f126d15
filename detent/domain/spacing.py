"""The minimum interval of a tenant: how close slots may lie."""

from __future__ import annotations

from datetime import datetime, timedelta
from heapq import merge
from itertools import groupby, islice, pairwise
from typing import Final

from detent.domain.duration import words_of
from detent.domain.errors import SpecError
from detent.domain.trigger import Trigger, Triggers
from detent.domain.wallclock import WallClock

_LOOK_AT: Final = 1_500
"""Slots of a union to compare: a day of a minute job and an hour more."""


def shortest_gap(triggers: Triggers, after: datetime) -> timedelta:
    """The least distance between two slots: of one trigger by its fields, of several by their next slots."""
    least = min(_gap_of(trigger) for trigger in triggers.each)
    if len(triggers.each) == 1:
        return least
    merged = merge(*(trigger.upcoming(after) for trigger in triggers.each))
    slots = islice((slot for slot, _ in groupby(merged)), _LOOK_AT)
    return min([least, *(later - earlier for earlier, later in pairwise(slots))])


def refuse_too_often(triggers: Triggers, floor: timedelta, after: datetime) -> None:
    gap = shortest_gap(triggers, after)
    if gap < floor:
        raise SpecError(
            f"fires every {words_of(gap)}, but this tenant's minimum interval is {words_of(floor)}:"
            " fire less often, or ask for a lower minimum",
            code="too_often",
            field="triggers",
        )


def _gap_of(trigger: Trigger) -> timedelta:
    if isinstance(trigger.rule, WallClock):
        return timedelta(seconds=trigger.rule.pattern.shortest_gap())
    return trigger.rule.shortest_gap()
