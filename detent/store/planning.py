"""Planning, as the store sees it: what is due, and the one write that makes promises of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from detent.store.pool import Connection
from detent.store.statements import statement


class DueTimer(NamedTuple):
    schedule_id: int
    next_at: datetime
    revision: int
    fired_count: int
    shard: int
    cadence: str


@dataclass(slots=True)
class Moves:
    """Rows of the write, in the order of plan_v1's columns: timers with their new cursor, and what lies before it."""

    timers: list[tuple[int, datetime, int, datetime | None, int]] = field(default_factory=list)
    """Schedule, cursor as seen, revision as seen, new cursor, firings promised."""
    firings: list[tuple[int, datetime, datetime, str]] = field(default_factory=list)
    """Schedule, slot, due at, kind."""
    omissions: list[tuple[int, datetime, datetime, str, int | None]] = field(default_factory=list)
    """Schedule, from, to, reason, count."""


class CatchUpCursor(NamedTuple):
    shard: int
    cursor: datetime
    rate: float


class Written(NamedTuple):
    moved: int
    promised: int


async def now(connection: Connection) -> datetime:
    found: datetime = await connection.fetchval(statement("now"))
    return found


async def due_timers(
    connection: Connection, floors: Mapping[int, datetime], until: datetime, limit: int
) -> list[DueTimer]:
    """By shard, in order of their cursors. Records of the driver in the shape of `DueTimer`, for there are many."""
    return await connection.fetch(  # type: ignore[no-any-return]
        statement("due_timers"), list(floors), list(floors.values()), until, limit
    )


async def plan(connection: Connection, node: int, epochs: Mapping[int, int], moves: Moves) -> Written:
    row = await connection.fetchrow(
        statement("plan"), node, list(epochs), list(epochs.values()),
        *_columns(moves.timers, 5), *_columns(moves.firings, 4), *_columns(moves.omissions, 5),
    )  # fmt: skip
    return Written(row[0], row[1])


def _columns(rows: Sequence[tuple[object, ...]], width: int) -> Sequence[Sequence[object]]:
    return list(zip(*rows, strict=True)) if rows else [()] * width


async def catch_up_cursors(connection: Connection, shards: Sequence[int]) -> list[CatchUpCursor]:
    return [CatchUpCursor(*row) for row in await connection.fetch(statement("catch_up_cursors"), shards)]


async def move_catch_up(connection: Connection, node: int, cursors: Sequence[CatchUpCursor]) -> None:
    await connection.execute(statement("move_catch_up"), *zip(*cursors, strict=True), node)


async def hold_shard(connection: Connection, shard: int, node: int, epoch: int) -> bool:
    return await connection.fetchrow(statement("hold_shard"), shard, node, epoch) is not None


async def park(connection: Connection, schedule_id: int, revision: int, reason: str) -> None:
    await connection.execute(statement("park"), schedule_id, revision, reason)


async def ensure_partitions(connection: Connection, first: datetime, last: datetime) -> int:
    made: int = await connection.fetchval(statement("ensure_partitions"), first.date(), last.date())
    return made
