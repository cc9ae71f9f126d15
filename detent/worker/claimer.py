"""Claims: which lanes have something due, how much of each, and the claim itself.

The order inside a tick matters. Claims and the search for what the ledger holds for us without our knowing
(`reconcile`) come one after the other: a claim whose answer is still to come would look like one whose answer was lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from detent import clock
from detent.clock import DatabaseClock
from detent.domain.share import MAX_LANES, Lane, lane_weight, share
from detent.domain.stable import stable_hash
from detent.floor import Floor
from detent.node.lease import Lease
from detent.settings import Settings
from detent.store import claiming, concluding
from detent.store.claiming import NO_LIMITS, Claimed, DueLane
from detent.store.pool import Connection, Pool
from detent.targets.registry import Registry
from detent.worker.hand import Hand, Held

MOST: Final = 2_000
"""Firings of one claim: larger ones don't cost less each."""
_SAMPLE_SECONDS: Final = 1.0
_LIMITS_SECONDS: Final = 5.0
_LOCK_KEYS: Final = 1 << 62
_WORTH_IT: Final = 500
"""While plenty is in hand, a smaller claim waits for more room."""
_CLAIMS_A_LOOK: Final = 8
"""Claims from the same lanes before we look which lanes there are: a fifth of a second at full speed."""

Deliver = Callable[[list[Held]], None]


class Claimer:
    """Fills the hand from the pools it serves."""

    def __init__(
        self, database: Pool, lease: Lease, settings: Settings, *, pools: Sequence[str], hand: Hand,
        registry: Registry, time: DatabaseClock, deliver: Deliver,
    ) -> None:  # fmt: skip
        self._database = database
        self._lease = lease
        self._settings = settings
        self._pools = list(pools)
        self._hand = hand
        self._registry = registry
        self._time = time
        self._deliver = deliver
        self._floors = {pool: Floor() for pool in pools}
        self._after = dict.fromkeys(pools, 0)
        self._turns = dict.fromkeys(pools, 0)
        self._limits = dict.fromkeys(pools, NO_LIMITS)
        self._sample_at = self._limits_at = self._reconcile_at = 0.0
        self.stopped = False

    async def tick(self) -> bool:
        """A claim from each pool. True if there is more to claim, and room for it."""
        if self.stopped or not self._lease.held:
            return False
        async with self._database.acquire() as connection:
            await self._look_at_the_clock(connection)
            if clock.monotonic() >= self._reconcile_at:
                await self._reconcile(connection)
            more = False
            for pool in self._pools:
                more |= await self._claim_from(connection, pool)
            self._pools.append(self._pools.pop(0))
        return more

    def reconcile_soon(self) -> None:
        """After a call that failed: its effect is not known."""
        self._reconcile_at = 0.0

    async def _look_at_the_clock(self, connection: Connection) -> None:
        now = clock.monotonic()
        if now >= self._sample_at or not self._time.known:
            self._time.observe(await claiming.clock(connection), now)
            self._sample_at = now + _SAMPLE_SECONDS
        if now >= self._limits_at:
            for pool in self._pools:
                self._limits[pool] = await claiming.pool_limits(connection, pool)
            self._limits_at = now + _LIMITS_SECONDS

    async def _reconcile(self, connection: Connection) -> None:
        """What the ledger says we run and we know nothing of goes back: nobody will ever start it."""
        node = self._lease.id
        rows = await concluding.running_of_node(connection, node, 10 * MOST)
        unknown = [row for row in rows if self._hand.find(row.schedule_id, row.seat, row.volley) is None]
        if unknown:
            await claiming.hand_back(connection, [(row.schedule_id, row.seat, row.volley) for row in unknown])
        self._reconcile_at = clock.monotonic() + self._settings.lease_ttl / 3

    async def _claim_from(self, connection: Connection, pool: str) -> bool:
        floor = self._floors[pool]
        if self._hand.room() <= 0:
            return False
        look, began, now, after = floor.look(), clock.monotonic(), self._time.now(), self._after[pool]
        found = await claiming.lanes(
            connection, pool, floor.lowest(look, now), self._settings.claim_ahead_delta, after, MAX_LANES
        )
        floor.looked(look, clock.monotonic() - began)
        listed = len(found) < MAX_LANES
        self._after[pool] = 0 if listed else found[-1].lane
        floor.found(look, {lane.lane: lane.due_at for lane in found}, now, complete=listed and not after)
        if not found:
            more = False
        elif self._limits[pool].cap is None and all(lane.cap is None for lane in found):
            more = await self._claim_freely(connection, pool, found)
        else:
            more = await self._claim_under_caps(connection, pool, found)
        return more or bool(self._after[pool])

    async def _claim_freely(self, connection: Connection, pool: str, found: Sequence[DueLane]) -> bool:
        """Again and again, as long as these lanes give all that is asked of them. The next claim is under way while
        the rows of the last one are received: neither the database nor we wait for the other."""
        rows: list[Claimed] = []
        heads = {lane.lane: lane.due_at for lane in found}
        for _ in range(_CLAIMS_A_LOOK):
            room = self._hand.room() - len(rows)
            quotas = self._share(pool, min(MOST, room), self._as_lanes(found, {}))
            if not quotas or (room < _WORTH_IT and self._hand.beyond_places > MOST):
                break
            asked = asyncio.create_task(self._ask(connection, pool, quotas, heads))
            await clock.sleep(0)  # it is sent now
            self._receive(pool, rows)
            rows = await asked
            if len(rows) < sum(quotas.values()):
                self._receive(pool, rows)
                return False
            self._go_on(pool, heads, rows)
        self._receive(pool, rows)
        return bool(rows)

    async def _claim_under_caps(self, connection: Connection, pool: str, found: Sequence[DueLane]) -> bool:
        """Claims under a cap come one after the other, across all workers: the count is exact when we claim."""
        async with connection.transaction():
            keys = sorted({_key("pool", pool)} | {_key("tenant", str(lane.lane // 10)) for lane in found})
            await claiming.lock_caps(connection, keys)
            left = _Room(await claiming.in_flight(connection), pool, self._limits[pool].cap)
            lanes = self._as_lanes(found, {lane.lane: left.of(lane) for lane in found})
            room = min(MOST, self._hand.room(), left.pool)
            quotas = self._share(pool, room, lanes)
            heads = {lane.lane: lane.due_at for lane in found}
            rows = await self._ask(connection, pool, quotas, heads) if quotas else []
        self._receive(pool, rows)
        return bool(rows) and len(rows) >= sum(quotas.values())

    def _share(self, pool: str, room: int, lanes: Sequence[Lane]) -> Mapping[int, int]:
        quotas = share(room, lanes, self._turns[pool])
        self._turns[pool] += sum(quotas.values())
        return quotas

    async def _ask(
        self, connection: Connection, pool: str, quotas: Mapping[int, int], heads: Mapping[int, datetime]
    ) -> list[Claimed]:
        """The heads are where each lane begins: nothing waits before."""
        floors, asked_at = [heads[lane] for lane in quotas], clock.monotonic()
        rows = await claiming.claim(
            connection, self._lease.id, pool, quotas, floors, self._settings.claim_ahead_delta, self._registry.needs
        )  # fmt: skip
        if rows:
            self._time.observe(rows[0][11], asked_at)
        return rows

    def _as_lanes(self, found: Sequence[DueLane], room: Mapping[int, int | None]) -> list[Lane]:
        return [
            Lane(
                id=lane.lane, weight=lane_weight(lane.weight, lane.lane % 10), head_due=lane.due_at,
                in_flight=self._hand.in_flight(lane.lane), room=room.get(lane.lane),
            )
            for lane in found
        ]  # fmt: skip

    def _receive(self, pool: str, rows: list[Claimed]) -> None:
        if not rows:
            return
        node, calls, now = self._lease.id, self._registry.call, clock.monotonic()
        offset, limit = self._time.offset, self._limits[pool].timeout
        timeout = limit.total_seconds() if limit else None
        held = [Held(row, calls(row[8]), node, now, offset, timeout) for row in rows]
        self._hand.take(held)
        self._deliver(held)

    def _go_on(self, pool: str, heads: dict[int, datetime], rows: list[Claimed]) -> None:
        """Heads come in order of their instants, and a lane that gave all that was asked of it refused none: what lies
        before the last one is done. But for those whose seat was visibly taken: they are found by a near look."""
        reached: dict[int, datetime] = {}
        for row in rows:
            lane, due_at = row[7], row[5]
            if lane not in reached or due_at > reached[lane]:
                reached[lane] = due_at
        for lane, due_at in reached.items():
            heads[lane] = due_at
            self._floors[pool].reached(lane, due_at)


class _Room:
    """What caps leave, counted under their locks."""

    def __init__(self, in_flight: Sequence[tuple[str, int, int]], pool: str, cap: int | None) -> None:
        self._of_tenant: dict[int, int] = {}
        in_pool = 0
        for other, lane, n in in_flight:
            self._of_tenant[lane // 10] = self._of_tenant.get(lane // 10, 0) + n
            in_pool += n if other == pool else 0
        self.pool = MOST if cap is None else max(0, cap - in_pool)

    def of(self, lane: DueLane) -> int | None:
        return None if lane.cap is None else max(0, lane.cap - self._of_tenant.get(lane.lane // 10, 0))


def _key(kind: str, name: str) -> int:
    return stable_hash("cap", kind, name) % _LOCK_KEYS
