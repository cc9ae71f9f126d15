"""How a worker's free places are divided between lanes.

By weight: each lane gets its part of what is free, a lane with little to do leaves the rest to the others, and no lane
exceeds its cap. One place in ten goes to the lane whose head has waited longest, so that the lightest lane moves too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

_OLDEST_ONE_IN: Final = 10
MAX_LANES: Final = 200
"""Lanes of one claim; more take turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Tenant and priority inside a pool. `room` is what its caps leave, None without caps."""

    id: int
    weight: int
    head_due: datetime
    in_flight: int = 0
    room: int | None = None


def lane_weight(tenant_weight: int, priority: int) -> int:
    return tenant_weight * (priority + 1)


def share(free: int, lanes: Sequence[Lane]) -> dict[int, int]:
    """Places for each lane; together at most `free`. Lanes that get none are left out."""
    if not lanes or free <= 0:
        return {}
    if len(lanes) == 1:
        places = _within(lanes[0], free)
        return {lanes[0].id: places} if places else {}
    given = dict.fromkeys((lane.id for lane in lanes), 0)
    oldest = min(lanes, key=lambda lane: (lane.head_due, lane.id))
    reserved = _within(oldest, -(-free // _OLDEST_ONE_IN))
    given[oldest.id] += reserved
    _by_weight(free - reserved, lanes, given)
    return {lane: places for lane, places in given.items() if places}


def _by_weight(free: int, lanes: Sequence[Lane], given: dict[int, int]) -> None:
    """Raises the level of (in flight + given) / weight evenly, lowest first: exact for small numbers, too."""
    open_lanes = [lane for lane in lanes if _within(lane, given[lane.id] + 1) > given[lane.id]]
    while free > 0 and open_lanes:
        total = sum(lane.weight for lane in open_lanes)
        still_open = []
        round_free = free
        for lane in sorted(open_lanes, key=lambda lane: (lane.in_flight + given[lane.id]) / lane.weight):
            part = min(free, max(1, round_free * lane.weight // total))
            room = _within(lane, given[lane.id] + part) - given[lane.id]
            given[lane.id] += room
            free -= room
            if room == part:
                still_open.append(lane)
            if free == 0:
                return
        open_lanes = still_open


def _within(lane: Lane, places: int) -> int:
    return places if lane.room is None else max(0, min(places, lane.room))
