"""What a race is played with: schedules, firings and nodes made by hand, and the moves of those who meet.

Sessions are Detent's own. `meets(other, move)` begins a move that must wait for what another session holds, and returns
when it does wait; a move that doesn't is a failed test. After each test the ledger is asked for breaches.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from detent.store import audit, claiming, concluding, nodes
from detent.store.claiming import Claimed
from detent.store.concluding import Fact, Identity
from tests.postgres import PATIENCE_SECONDS, Connect

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
AHEAD = timedelta(milliseconds=250)
SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Schedule:
    id: int
    seats: int

    @property
    def lane(self) -> int:
        return 14  # tenant 1, priority 4


class Scene:
    """`watcher` is a session that only looks."""

    def __init__(self, connect: Connect, watcher: asyncpg.Connection) -> None:
        self.connect = connect
        self.watcher = watcher
        self._ids = itertools.count(1)
        self._nodes = itertools.count(1001)

    async def node(self, *, ttl: float = 3600, kind: str = "worker") -> int:
        node = next(self._nodes)
        await nodes.register_node(self.watcher, node, kind, "1", "2026a", ttl)
        return node

    async def expire(self, node: int) -> None:
        await self.watcher.execute(
            "update detent.node set lease_expires_at = detent.now() - interval '1 s' where id = $1", node
        )

    async def schedule(
        self, *, overlap: str = "skip", seats: int = 1, next_at: datetime | None = None, shard: int = 0
    ) -> Schedule:
        made = Schedule(next(self._ids), seats)
        await self.watcher.execute(
            "insert into detent.schedule (id, tenant_id, name, cadence, work, overlap)"
            " overriding system value values ($1, 1, $2, '{}', 'null', $3)",
            made.id, f"s{made.id}", overlap,
        )  # fmt: skip
        await self.watcher.execute(
            "insert into detent.revision (schedule_id, number, spec) values ($1, 1, '{}')", made.id
        )
        await self.watcher.execute(
            "insert into detent.timer (schedule_id, shard, next_at, active, revision, tenant_id, pool, seats)"
            " values ($1, $2, $3, $4, 1, 1, 'default', $5)",
            made.id, shard, next_at, next_at is not None, seats,
        )  # fmt: skip
        return made

    async def waits(
        self, schedule: Schedule, *, ago: float = 1, held: str | None = None, expires: float | None = None
    ) -> datetime:
        """A promise, due so many seconds ago, and its waiting row. `expires`: seconds from now."""
        at: datetime = await self.watcher.fetchval(
            "select date_trunc('milliseconds', detent.now() - make_interval(secs => $1))", ago
        )
        await self.watcher.execute(
            "insert into detent.firing (schedule_id, scheduled_for, due_at, kind, revision, tenant_id)"
            " values ($1, $2, $2, 'slot', 1, 1)",
            schedule.id, at,
        )  # fmt: skip
        await self.watcher.execute(
            "insert into detent.waiting (schedule_id, scheduled_for, pool, lane, due_at, expires_at, held, seats)"
            " values ($1, $2, 'default', $3, $2, detent.now() + make_interval(secs => $4), $5, $6)",
            schedule.id, at, schedule.lane, expires, held, schedule.seats,
        )  # fmt: skip
        return at

    async def runs(
        self, schedule: Schedule, node: int, *, ago: float = 60, connection: asyncpg.Connection | None = None
    ) -> Claimed:
        """A firing that the node has claimed."""
        await self.waits(schedule, ago=ago)
        (claimed,) = await claim(connection or self.watcher, node)
        return claimed

    async def meets(
        self,
        session: asyncpg.Connection,
        move: Coroutine[Any, Any, Any],
        *,
        by: asyncpg.Connection | None = None,
    ) -> asyncio.Task[Any]:
        """The move, begun in that session and waiting for somebody: for `by`, if given."""
        task = asyncio.create_task(move)
        pid = session.get_server_pid()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                blocking = await self.watcher.fetchval("select pg_blocking_pids($1)", pid)
                if blocking and (by is None or by.get_server_pid() in blocking):
                    return task
                assert not task.done(), f"it did not wait: {task.exception() or task.result()}"

    async def places(self, schedule: Schedule) -> dict[str, int]:
        """How many firings of the schedule are where."""
        row = await self.watcher.fetchrow(
            "select (select count(*) from detent.waiting where schedule_id = $1 and held is null) as waiting,"
            " (select count(*) from detent.waiting where schedule_id = $1 and held is not null) as held,"
            " (select count(*) from detent.running where schedule_id = $1 and node is not null) as running,"
            " (select count(*) from detent.running where schedule_id = $1 and node is null) as resting,"
            " (select count(*) from detent.dead where schedule_id = $1) as dead,"
            " (select count(*) from detent.attempt where schedule_id = $1 and final) as concluded",
            schedule.id,
        )
        return {name: n for name, n in row.items() if n}

    async def outcomes(self, schedule: Schedule) -> list[tuple[int, str]]:
        rows = await self.watcher.fetch(
            "select number, outcome from detent.attempt where schedule_id = $1 order by scheduled_for, number",
            schedule.id,
        )
        return [tuple(row) for row in rows]

    async def breaches(self) -> list[audit.Breach]:
        return await audit.breaches(self.watcher, LONG_AGO, datetime(2100, 1, 1, tzinfo=UTC))


async def claim(
    connection: asyncpg.Connection, node: int, *, quota: int = 100, lane: int = 14, ahead: timedelta = AHEAD
) -> list[Claimed]:
    rows = await claiming.claim(connection, node, "default", {lane: quota}, [LONG_AGO], ahead, 1)
    return [Claimed(*row) for row in rows]


def fact(
    claimed: Claimed, *, outcome: str = "succeeded", verdict: str = "conclude", due_at: datetime | None = None
) -> Fact:
    at = claimed.read_at.timestamp()
    return Fact(
        claimed.schedule_id, claimed.seat, claimed.volley, 1, at, at, outcome, None, None, None, verdict, due_at
    )  # fmt: skip


async def conclude(
    connection: asyncpg.Connection, node: int, claimed: Claimed, *more: Claimed,
    outcome: str = "succeeded", verdict: str = "conclude", due_at: datetime | None = None, wake: bool = True,
) -> int:  # fmt: skip
    facts = [fact(one, outcome=outcome, verdict=verdict, due_at=due_at) for one in (claimed, *more)]
    return await concluding.conclude(
        connection, node, facts, sorted({f.schedule_id for f in facts} if wake else ())
    )


async def again(
    connection: asyncpg.Connection, node: int, claimed: Claimed, *, due_at: datetime | None = None
) -> int:
    """A failed attempt, and another one is due: at once, if nothing else is said."""
    return await conclude(
        connection, node, claimed, outcome="failed", verdict="again", due_at=due_at or claimed.read_at
    )


async def hand_back(connection: asyncpg.Connection, *claimed: Claimed) -> int:
    return await claiming.hand_back(connection, [(c.schedule_id, c.seat, c.volley) for c in claimed])


def identities(claimed: Sequence[Claimed]) -> list[Identity]:
    return [Identity(c.schedule_id, c.scheduled_for, c.volley) for c in claimed]
