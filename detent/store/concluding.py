"""Concluding, as the store sees it: facts are appended by whoever deleted the running row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from detent.domain.settle import Tried
from detent.store.pool import Connection
from detent.store.statements import statement


@dataclass(slots=True)
class Facts:
    """Columns of the write: attempts that have ended, and what becomes of their firings."""

    ids: list[int] = field(default_factory=list)
    seats: list[int] = field(default_factory=list)
    scheduled_for: list[datetime] = field(default_factory=list)
    volleys: list[int] = field(default_factory=list)
    started: list[datetime] = field(default_factory=list)
    finished: list[datetime] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    codes: list[str | None] = field(default_factory=list)
    errors: list[str | None] = field(default_factory=list)
    excerpts: list[str | None] = field(default_factory=list)
    then: list[str] = field(default_factory=list)
    """`conclude`, `again` or `die`."""
    due: list[datetime | None] = field(default_factory=list)
    wake: list[int] = field(default_factory=list)
    """Schedules that queue: a seat may be free now."""


class Running(NamedTuple):
    schedule_id: int
    seat: int
    scheduled_for: datetime
    volley: int
    number: int
    started_at: datetime
    revision: int
    cancel: str | None


class Orphan(NamedTuple):
    schedule_id: int
    seat: int
    scheduled_for: datetime
    volley: int
    number: int
    started_at: datetime
    node: int
    work: str | None


async def conclude(connection: Connection, node: int, facts: Facts) -> list[tuple[int, datetime]]:
    """The firings whose rows were still ours; the others were taken away meanwhile."""
    return await connection.fetch(  # type: ignore[no-any-return]
        statement("conclude"), node, facts.ids, facts.seats, facts.scheduled_for, facts.volleys, facts.started,
        facts.finished, facts.outcomes, facts.codes, facts.errors, facts.excerpts, facts.then, facts.due, facts.wake,
    )  # fmt: skip


async def tried(
    connection: Connection, ids: Sequence[int], scheduled_for: Sequence[datetime]
) -> dict[tuple[int, datetime], Tried]:
    rows = await connection.fetch(statement("tried"), ids, scheduled_for)
    return {(row[0], row[1]): Tried(attempts=row[2], lost=row[3]) for row in rows}


async def own_facts(
    connection: Connection, ids: Sequence[int], scheduled_for: Sequence[datetime], volleys: Sequence[int]
) -> set[tuple[int, datetime]]:
    rows = await connection.fetch(statement("own_facts"), ids, scheduled_for, volleys)
    return {(row[0], row[1]) for row in rows}


async def record_stale(connection: Connection, node: int, columns: Sequence[Sequence[object]]) -> None:
    """`columns`: schedules, scheduled_for, numbers, volleys, outcomes, errors."""
    await connection.execute(statement("record_stale"), node, *columns)


async def running_of_node(connection: Connection, node: int, limit: int) -> list[Running]:
    return [Running(*row) for row in await connection.fetch(statement("running_of_node"), node, limit)]


async def orphans(connection: Connection, node: int, limit: int) -> list[Orphan]:
    return [Orphan(*row) for row in await connection.fetch(statement("orphans"), node, limit)]


async def progress(
    connection: Connection, schedule_id: int, scheduled_for: datetime, volley: int, done: float | None, note: str | None
) -> bool:
    """Whether that attempt is still the one that runs."""
    return await connection.fetchval(statement("progress"), schedule_id, scheduled_for, volley, done, note) is not None
