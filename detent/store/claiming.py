"""Claiming, as the store sees it: lanes with something due, volleys, and what a full seat does to the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from detent.store.pool import Connection
from detent.store.statements import statement


class Claimed(NamedTuple):
    """One firing of a volley, with the text of its work and the database's time when it was read."""

    schedule_id: int
    scheduled_for: datetime
    seat: int
    number: int
    volley: int
    due_at: datetime
    revision: int
    lane: int
    work: str
    kind: str | None
    """None for an ordinary slot."""
    slot_at: datetime | None
    """The nominal slot of a firing whose identity is another instant."""
    read_at: datetime
    name: str
    """Of the schedule."""


class Ended(NamedTuple):
    schedule_id: int
    scheduled_for: datetime
    outcome: str
    code: str


class DueLane(NamedTuple):
    lane: int
    due_at: datetime
    weight: int
    cap: int | None


class Limits(NamedTuple):
    cap: int | None
    timeout: timedelta | None


NO_LIMITS: Final = Limits(None, None)


async def lanes(
    connection: Connection, pool: str, floor: datetime, ahead: timedelta, after: int, limit: int
) -> list[DueLane]:
    return [
        DueLane(*row) for row in await connection.fetch(statement("lanes"), pool, floor, ahead, after, limit)
    ]


async def claim(
    connection: Connection, node: int, pool: str, quotas: Mapping[int, int], floors: Sequence[datetime],
    ahead: timedelta, needs: Sequence[int],
) -> list[Claimed]:  # fmt: skip
    """Rows in the shape of `Claimed`; records of the driver, for there are many of them."""
    return await connection.fetch(  # type: ignore[no-any-return]
        statement("claim"), node, pool, list(quotas), list(quotas.values()), floors, ahead, needs
    )


async def clock(connection: Connection) -> datetime:
    read_at: datetime = await connection.fetchval(statement("clock"))
    return read_at


async def pool_limits(connection: Connection, pool: str) -> Limits:
    row = await connection.fetchrow(statement("pool_limits"), pool)
    return Limits(*row) if row else NO_LIMITS  # none: somebody else is making it just now


async def lock_caps(connection: Connection, keys: Sequence[int]) -> None:
    await connection.execute(statement("lock_caps"), keys)


async def in_flight(connection: Connection) -> list[tuple[str, int, int]]:
    return [tuple(row) for row in await connection.fetch(statement("in_flight"))]


async def strangers(
    connection: Connection, pools: Sequence[str], needs: Sequence[int], overdue: timedelta, limit: int
) -> list[tuple[str, str]]:
    """Pools and works."""
    found = await connection.fetch(statement("strangers"), pools, needs, overdue, limit)
    return [tuple(row) for row in found]


async def overlap(connection: Connection, limit: int) -> list[tuple[int, datetime, str]]:
    return [tuple(row) for row in await connection.fetch(statement("overlap"), limit)]


async def end_waiting(connection: Connection, limit: int) -> list[Ended]:
    return [Ended(*row) for row in await connection.fetch(statement("end_waiting"), limit)]


async def wake_forgotten(connection: Connection, limit: int) -> int:
    woken: int = await connection.fetchval(statement("wake_forgotten"), limit)
    return woken


async def defer(connection: Connection, firings: Sequence[tuple[int, int, int, datetime]]) -> int:
    """`firings` are (schedule, seat, volley, due at). Returns how many were still ours."""
    columns = [list(column) for column in zip(*firings, strict=True)]
    deferred: int = await connection.fetchval(statement("defer"), *columns)
    return deferred


async def hand_back(connection: Connection, firings: Sequence[tuple[int, int, int]]) -> int:
    """`firings` are (schedule, seat, volley). Returns how many were still ours."""
    columns = [list(column) for column in zip(*firings, strict=True)]
    handed: int = await connection.fetchval(statement("hand_back"), *columns)
    return handed
