"""A planner in a race: it looks and thinks in one step, and writes in another, as the real one does.

Between the two anybody may come; the write says how much of what it saw still held.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

import asyncpg

from detent.domain.plan import plan
from detent.domain.schedule import read_cadence
from detent.store import nodes, planning
from detent.store.planning import DueTimer, Moves, Written

LOOK_AHEAD = timedelta(seconds=30)
LONG_AGO = datetime.fromisoformat("2000-01-01T00:00Z")


class Planner:
    def __init__(self, session: asyncpg.Connection, node: int) -> None:
        self.session = session
        self.node = node
        self.epochs: dict[int, int] = {}

    async def take(self, shards: Iterable[int]) -> dict[int, int]:
        """What it asked for and got."""
        taken = await nodes.take_shards(self.session, self.node, list(shards))
        self.epochs |= taken
        return taken

    async def due(self) -> list[DueTimer]:
        until = await planning.now(self.session) + LOOK_AHEAD
        rows = await planning.due_timers(self.session, dict.fromkeys(self.epochs, LONG_AGO), until, 1000)
        return [DueTimer(*row) for row in rows]

    async def look(self) -> Moves:
        as_of = await planning.now(self.session)
        moves = Moves()
        for timer in await self.due():
            found = plan(
                read_cadence(timer.cadence), timer.next_at, timer.fired_count, as_of=as_of, until=as_of + LOOK_AHEAD
            )  # fmt: skip
            moves.timers.append(
                (timer.schedule_id, timer.next_at, timer.revision, found.next_at, len(found.promises))
            )
            moves.firings += [(timer.schedule_id, slot, slot, kind.value) for slot, kind in found.promises]
            moves.omissions += [
                (timer.schedule_id, o.start, o.end, o.reason.value, o.slots) for o in found.omissions
            ]
        if moves.firings:
            slots = [firing[1] for firing in moves.firings]
            await planning.ensure_partitions(self.session, min(slots), max(slots))
        return moves

    async def write(self, moves: Moves) -> Written:
        return await planning.plan(self.session, self.node, self.epochs, moves)

    async def plan(self) -> Written:
        return await self.write(await self.look())
