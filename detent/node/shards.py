"""Which shards are ours: an even part of all, taken from those that nobody holds, given up when others come.

The table says who holds what; this only decides what to ask for. Taking a shard raises its epoch in the same statement
and waits for planning transactions under the old one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Final

from detent.node.lease import Lease
from detent.observe.events import Events, ShardsChanged, ZoneRulesOutdated
from detent.store import nodes
from detent.store.pool import Pool

SHARDS: Final = 256


class Shards:
    """`held` maps our shards to their epochs, as of the last look."""

    def __init__(self, database: Pool, lease: Lease, events: Events) -> None:
        self._database = database
        self._lease = lease
        self._events = events
        self._node = 0
        self.held: dict[int, int] = {}
        self.on_change: Callable[[], None] | None = None
        self.stopped = False
        self._outdated = False

    def _sharing(self, planners: Mapping[int, str]) -> set[int]:
        """Those with the newest zone rules: while a new package is rolled out, slots are computed by one of the two."""
        newest = max(planners.values(), default="")
        outdated = planners.get(self._node, newest) < newest
        if outdated and not self._outdated:
            self._events.emit(ZoneRulesOutdated(ours=planners[self._node], newest=newest))
        self._outdated = outdated
        return {node for node, version in planners.items() if version == newest}

    async def tick(self) -> bool:
        if self._node != self._lease.id or not self._lease.held:
            self.held = {}
        if self.stopped or not self._lease.held:
            return False
        node = self._node = self._lease.id
        async with self._database.acquire() as connection:
            every = await nodes.shard_map(connection)
            sharing = self._sharing(await nodes.live_planners(connection))
            mine = {shard.id: shard.epoch for shard in every if shard.holder == node}
            fair = -(-SHARDS // len(sharing)) if node in sharing else 0
            given: list[int] = []
            taken: dict[int, int] = {}
            if len(mine) > fair:
                given = await nodes.give_shards(connection, node, sorted(mine)[fair:])
            elif len(mine) < fair:
                free = [shard.id for shard in every if not shard.held]
                random.shuffle(free)  # several newcomers don't ask for the same ones
                if free:
                    taken = await nodes.take_shards(connection, node, free[: fair - len(mine)])
        self.held = {**{shard: epoch for shard, epoch in mine.items() if shard not in set(given)}, **taken}
        if taken or given:
            self._events.emit(
                ShardsChanged(node=node, taken=len(taken), given=len(given), held=len(self.held))
            )
            if self.on_change is not None:
                self.on_change()
        return False
