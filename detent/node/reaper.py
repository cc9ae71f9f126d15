"""Buries dead nodes: what they ran is settled as lost, by the same rules as any other outcome.

One transaction a step: the node's row is locked first. A claim of that node holds the row's key share, so it has
committed and is seen, or finds no node and claims nothing; a renewal finds its lease expired. What the dead one is
concluding or handing back at this moment is left to it, and the node stays until that has come to an end.
"""

from __future__ import annotations

from typing import Final

from detent.domain.errors import UNREADABLE
from detent.domain.retry import NEVER, Retry
from detent.domain.schedule import read_work
from detent.domain.settle import Outcome, settle_next, verdict_of
from detent.observe.events import Events, NodeBuried
from detent.store import concluding, nodes, planning
from detent.store.concluding import Fact, Orphan
from detent.store.pool import Connection, Pool

_MOST: Final = 1_000


class Reaper:
    """Looks for one dead node a tick."""

    def __init__(self, database: Pool, events: Events) -> None:
        self._database = database
        self._events = events

    async def tick(self) -> bool:
        """True if there may be more: rows of this node, or another node."""
        async with self._database.acquire() as connection, connection.transaction():
            node = await nodes.expired_node(connection)
            if node is None:
                return False
            orphans = await concluding.orphans(connection, node, _MOST)
            if orphans:
                await self._settle(connection, node, orphans)
            gone = await nodes.bury_node(connection, node)
        if gone or orphans:
            self._events.emit(NodeBuried(node=node, lost=len(orphans)))
        return gone or bool(orphans)

    async def _settle(self, connection: Connection, node: int, orphans: list[Orphan]) -> None:
        as_of = await planning.now(connection)
        tried = await concluding.tried(
            connection, [o.schedule_id for o in orphans], [o.scheduled_for for o in orphans]
        )
        facts = []
        for orphan in orphans:
            before = tried[orphan.schedule_id, orphan.scheduled_for]
            firing = (orphan.schedule_id, orphan.scheduled_for)
            settlement = settle_next(_retry_of(orphan), before, Outcome.LOST, as_of=as_of, firing=firing)
            verdict, due_at = verdict_of(settlement)
            facts.append(
                Fact(
                    orphan.schedule_id, orphan.seat, orphan.volley, orphan.revision, orphan.started_at.timestamp(),
                    as_of.timestamp(), "lost", "node", f"node {node} died", None, verdict, due_at,
                )
            )  # fmt: skip
        wake = {o.schedule_id for o in orphans if o.overlap not in (None, "skip")}
        await concluding.conclude(connection, node, facts, list(wake))


def _retry_of(orphan: Orphan) -> Retry:
    try:
        return read_work(orphan.work).retry if orphan.work else NEVER
    except UNREADABLE:
        return NEVER
