"""How a worker's free places are divided between lanes.

By weight: what each lane has in flight and what it gets now are to be as its weight among all. A lane with little to do
leaves the rest to the others, and none exceeds its room, nor several of one tenant together theirs. One place in ten
goes to the lane whose head has waited longest, so that the lightest lane moves too.

Most claims are for a few places, less than there are lanes. What a lane has to get is then a part of a place; it gets
the whole one that often. Which claim it is decides: `turn`, the number of places that were divided before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, floor
from typing import Final

_OLDEST_ONE_IN: Final = 10
_GOLDEN: Final = 0.6180339887498949
"""Its multiples, modulo 1, spread evenly, however many there are."""
_NOTHING: Final = 1e-6
"""By how much less sums of parts miss a whole number."""
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

    @property
    def tenant(self) -> int:
        return self.id // 10


def lane_weight(tenant_weight: int, priority: int) -> int:
    return tenant_weight * (priority + 1)


def share(free: int, lanes: Sequence[Lane], turn: int = 0) -> dict[int, int]:
    """Places for each lane; together at most `free`. Lanes that get none are left out.

    The lanes of a tenant with a cap have the same room, and have it together.
    """
    given: dict[int, int] = {}
    lanes = [lane for lane in lanes if lane.room is None or lane.room > 0]
    while free > 0 and lanes:
        part = _divide(free, lanes, turn)
        crowded = _beyond_their_room(part, lanes)
        if not crowded:
            return {lane: places for lane, places in (given | part).items() if places}
        for tenant, room in crowded.items():
            own = [lane for lane in lanes if lane.tenant == tenant]
            given |= _divide(min(room, free), own, turn)
        lanes = [lane for lane in lanes if lane.tenant not in crowded]
        free -= sum(crowded.values())
    return {lane: places for lane, places in given.items() if places}


def _beyond_their_room(part: Mapping[int, int], lanes: Iterable[Lane]) -> dict[int, int]:
    """Tenants whose lanes got more than their room together."""
    total: defaultdict[int, int] = defaultdict(int)
    room: dict[int, int] = {}
    for lane in lanes:
        if lane.room is not None:
            total[lane.tenant] += part[lane.id]
            room[lane.tenant] = lane.room
    return {tenant: room[tenant] for tenant, places in total.items() if places > room[tenant]}


def _divide(free: int, lanes: Sequence[Lane], turn: int) -> dict[int, int]:
    if len(lanes) == 1:
        return {lanes[0].id: _within(lanes[0], free)}
    given = dict.fromkeys((lane.id for lane in lanes), 0)
    oldest = min(lanes, key=lambda lane: (lane.head_due, lane.id))
    reserved = _reserved(free, oldest, lanes, turn)
    given[oldest.id] = reserved
    parts = _parts(free - reserved, lanes, given)
    at = (turn * _GOLDEN % 1) * (1 - 2 * _NOTHING) + _NOTHING
    for lane, part in zip(lanes, parts, strict=True):
        whole, at = floor(at + part) - floor(at), at + part
        given[lane.id] = _within(lane, given[lane.id] + whole)
    return given


def _reserved(free: int, oldest: Lane, lanes: Sequence[Lane], turn: int) -> int:
    """One place in ten as they are divided, but no more than a tenth of those that there are beyond its weight's part:
    a lane whose firings take long would come to hold them all."""
    places = free + sum(lane.in_flight for lane in lanes)
    most = places * (oldest.weight / sum(lane.weight for lane in lanes) + 1 / _OLDEST_ONE_IN)
    one_in_ten = (turn + free) // _OLDEST_ONE_IN - turn // _OLDEST_ONE_IN
    return _within(oldest, max(0, min(one_in_ten, ceil(most) - oldest.in_flight)))


def _parts(free: int, lanes: Sequence[Lane], given: Mapping[int, int]) -> list[float]:
    """What each lane has to get, whole or not: (in flight + given) / weight rises evenly, lowest first.

    A lane begins to get at the level where it stands, as much for each step as it weighs, and ends where its room does.
    """
    stands = [(lane.in_flight + given[lane.id]) / lane.weight for lane in lanes]
    rooms = [free if lane.room is None else lane.room - given[lane.id] for lane in lanes]
    full = [at + room / lane.weight for at, room, lane in zip(stands, rooms, lanes, strict=True)]
    bends = sorted(
        [(at, lane.weight) for at, lane in zip(stands, lanes, strict=True)]
        + [(at, -lane.weight) for at, lane in zip(full, lanes, strict=True)]
    )
    level, weight, left = bends[0][0], 0, float(free)
    for at, change in bends:
        if weight and (at - level) * weight >= left:
            break
        left -= (at - level) * weight
        level, weight = at, weight + change
    level += left / weight if weight else 0
    return [
        min(room, max(0.0, (level - at) * lane.weight))
        for at, room, lane in zip(stands, rooms, lanes, strict=True)
    ]


def _within(lane: Lane, places: int) -> int:
    return places if lane.room is None else min(places, lane.room)
