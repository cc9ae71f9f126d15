"""What a race is played with: schedules, firings and nodes made by hand, and the moves of those who meet.

Sessions are Detent's own. `meets(other, move)` begins a move that must wait for what another session holds, and returns
when it does wait; a move that doesn't is a failed test. After each test the ledger is asked for breaches.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from detent.domain.need import NOTHING, need_of
from detent.store import audit, claiming, concluding, nodes
from detent.store.claiming import Claimed
from detent.store.concluding import Brought, Fact, Successes
from tests.postgres import PATIENCE_SECONDS, Connect
from tests.races.people import Person, spec
from tests.races.planner import Planner

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
ABLE = [NOTHING, need_of({"task": "work"})]
AHEAD = timedelta(milliseconds=250)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


WORK = '{"target":{"task":"work"}}'
"""With the ordinary three attempts."""


class Only:
    """A pool with one session to give: the one that a test watches."""

    def __init__(self, session: asyncpg.Connection) -> None:
        self._session = session

    @asynccontextmanager
    async def acquire(self):
        yield self._session


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

    async def person(self, *, at: datetime | str | None = None) -> Person:
        return Person(await self.connect(at=at))

    async def planner(self, *, at: datetime | str | None = None) -> Planner:
        session = await self.connect(at=at)
        return Planner(session, await self.node(kind="planner", ttl=1e8, by=session))

    async def idle_limit(self, session: asyncpg.Connection) -> timedelta:
        found: timedelta = await session.fetchval(
            "select current_setting('idle_in_transaction_session_timeout')::interval"
        )
        return found

    async def deadlocks(self) -> int:
        found: int = await self.watcher.fetchval(
            "select deadlocks from pg_stat_database where datname = current_database()"
        )
        return found

    async def node(
        self, *, ttl: float = 3600, kind: str = "worker", by: asyncpg.Connection | None = None
    ) -> int:
        node = next(self._nodes)
        await nodes.register_node(by or self.watcher, node, kind, "1", "2026a", ttl)
        return node

    async def expire(
        self, node: int, at: datetime | None = None, *, by: asyncpg.Connection | None = None
    ) -> None:
        """Its lease was over then: a second ago, if nothing is said."""
        await (by or self.watcher).execute(
            "update detent.node set lease_expires_at = coalesce($2, detent.now() - interval '1 s') where id = $1",
            node, at,
        )  # fmt: skip

    async def schedule(
        self, *, overlap: str = "skip", seats: int = 1, next_at: datetime | None = None, shard: int = 0
    ) -> Schedule:
        number = next(self._ids)
        made = Schedule(1000 + number, seats)  # beside those of the sequence
        await self.watcher.execute(
            "insert into detent.schedule (id, tenant_id, name, cadence, work, overlap)"
            " overriding system value values ($1, 1, $2, '{}', $3, $4)",
            made.id, f"s{number}", WORK, overlap,
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

    async def created(self, by: Person, **changes: object) -> Schedule:
        """By the real command: fires every ten seconds, so the next firings wait already."""
        seats = changes.get("max_concurrent", 0 if changes.get("overlap") == "allow" else 1)
        assert isinstance(seats, int)
        return Schedule(await by.create(spec(f"s{next(self._ids)}", **changes)), seats)

    async def known(self, name: str, *, seats: int) -> Schedule:
        found = await self.watcher.fetchval("select id from detent.schedule where name = $1", name)
        return Schedule(found, seats)

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

    async def running(self, schedule: Schedule) -> list[Claimed]:
        """What runs of it, as its claims said."""
        rows = await self.watcher.fetch(
            "select schedule_id, scheduled_for, seat, number, volley, started_at, 1, lane, 'null', null, null, started_at, 's'"
            " from detent.running where schedule_id = $1 and node is not null order by seat",
            schedule.id,
        )
        return [Claimed(*row) for row in rows]

    async def locked(
        self, session: asyncpg.Connection, schedule: Schedule, *, retry: bool = False
    ) -> list[asyncpg.Record]:
        """Its waiting rows, locked as a claim begins."""
        found: list[asyncpg.Record] = await session.fetch(
            "select from detent.waiting where schedule_id = $1 and held is null and (seat is not null) = $2"
            " for update skip locked",
            schedule.id, retry,
        )  # fmt: skip
        return found

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

    async def places_at(self, schedule: Schedule, at: datetime) -> dict[str, Any]:
        """The waiting row of one firing, as far as it says where it waits."""
        row = await self.watcher.fetchrow(
            "select pool, lane, seats, seat, held, number from detent.waiting"
            " where schedule_id = $1 and scheduled_for = $2",
            schedule.id, at,
        )  # fmt: skip
        return dict(row)

    async def outcomes(self, schedule: Schedule) -> list[tuple[int, str]]:
        rows = await self.watcher.fetch(
            "select number, outcome from detent.attempt where schedule_id = $1 order by scheduled_for, number",
            schedule.id,
        )
        return [tuple(row) for row in rows]

    async def breaches(self) -> list[audit.Breach]:
        return await audit.breaches(self.watcher, LONG_AGO, datetime(2100, 1, 1, tzinfo=UTC))


async def claim(
    connection: asyncpg.Connection, node: int, *, quota: int = 100, lane: int = 14, pool: str = "default",
    ahead: timedelta = AHEAD, floor: datetime = LONG_AGO,
) -> list[Claimed]:  # fmt: skip
    rows = await claiming.claim(connection, node, pool, {lane: quota}, [floor], ahead, ABLE)
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


async def succeed(connection: asyncpg.Connection, claimed: Claimed, *, wake: bool = True) -> int:
    """The quick way of those that succeeded."""
    at = [claimed.read_at.timestamp()]
    facts = Successes([claimed.schedule_id], [claimed.seat], [claimed.volley], [1], at, at, None)
    return await concluding.succeed(connection, facts, [claimed.schedule_id] if wake else [])


async def again(
    connection: asyncpg.Connection, node: int, claimed: Claimed, *, due_at: datetime | None = None
) -> int:
    """A failed attempt, and another one is due: at once, if nothing else is said."""
    return await conclude(
        connection, node, claimed, outcome="failed", verdict="again", due_at=due_at or claimed.read_at
    )


async def hand_back(connection: asyncpg.Connection, *claimed: Claimed) -> int:
    return await claiming.hand_back(connection, [(c.schedule_id, c.seat, c.volley) for c in claimed])


async def overlap(connection: asyncpg.Connection) -> list[tuple[int, datetime, str]]:
    return await claiming.overlap(connection, 100)


async def end_waiting(connection: asyncpg.Connection) -> list[claiming.Ended]:
    return await claiming.end_waiting(connection, 100)


async def defer(connection: asyncpg.Connection, *claimed: Claimed, seconds: float = 0) -> int:
    later = timedelta(seconds=seconds)
    return await claiming.defer(
        connection, [(c.schedule_id, c.seat, c.volley, c.read_at + later) for c in claimed]
    )


def brought(*claimed: Claimed, outcome: str = "succeeded") -> list[Brought]:
    return [Brought(c.schedule_id, c.scheduled_for, c.volley, outcome) for c in claimed]
