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
    """Columns of the write: timers with their new cursor, the firings and omissions that lie before it."""

    ids: list[int] = field(default_factory=list)
    seen: list[datetime] = field(default_factory=list)
    revisions: list[int] = field(default_factory=list)
    next_at: list[datetime | None] = field(default_factory=list)
    fired: list[int] = field(default_factory=list)
    firing_ids: list[int] = field(default_factory=list)
    scheduled_for: list[datetime] = field(default_factory=list)
    due_at: list[datetime] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    omission_ids: list[int] = field(default_factory=list)
    from_at: list[datetime] = field(default_factory=list)
    to_at: list[datetime] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    counts: list[int | None] = field(default_factory=list)


class Written(NamedTuple):
    moved: int
    promised: int


async def now(connection: Connection) -> datetime:
    found: datetime = await connection.fetchval(statement("now"))
    return found


async def due_timers(
    connection: Connection, shards: Sequence[int], after: datetime, until: datetime, limit: int
) -> list[DueTimer]:
    return await connection.fetch(statement("due_timers"), shards, after, until, limit)  # type: ignore[no-any-return]


async def plan(connection: Connection, node: int, epochs: Mapping[int, int], moves: Moves) -> Written:
    row = await connection.fetchrow(
        statement("plan"), node, list(epochs), list(epochs.values()),
        moves.ids, moves.seen, moves.revisions, moves.next_at, moves.fired,
        moves.firing_ids, moves.scheduled_for, moves.due_at, moves.kinds,
        moves.omission_ids, moves.from_at, moves.to_at, moves.reasons, moves.counts,
    )  # fmt: skip
    return Written(row[0], row[1])


async def catch_up_cursors(connection: Connection, shards: Sequence[int]) -> dict[int, datetime]:
    return dict(await connection.fetch(statement("catch_up_cursors"), shards))


async def move_catch_up(connection: Connection, cursors: Mapping[int, datetime]) -> None:
    await connection.execute(statement("move_catch_up"), list(cursors), list(cursors.values()))


async def park(connection: Connection, schedule_id: int, revision: int, reason: str) -> None:
    await connection.execute(statement("park"), schedule_id, revision, reason)


async def ensure_partitions(connection: Connection, first: datetime, last: datetime) -> int:
    made: int = await connection.fetchval(statement("ensure_partitions"), first.date(), last.date())
    return made
