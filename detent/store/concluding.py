"""Concluding, as the store sees it: facts are appended by whoever deleted the running row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from detent.domain.settle import Tried
from detent.store.pool import Connection
from detent.store.statements import statement


class Fact(NamedTuple):
    """One attempt that has ended, and what becomes of its firing. In the order of conclude_v1's columns."""

    schedule_id: int
    seat: int
    volley: int
    revision: int | None
    started_at: float
    """Seconds since 1970, by the database's clock."""
    finished_at: float
    outcome: str
    code: str | None
    error: str | None
    excerpt: str | None
    verdict: str
    """`conclude`, `again` or `die`."""
    due_at: datetime | None


class Successes(NamedTuple):
    """Attempts that succeeded, column by column, in the order of succeed_v1's."""

    schedule_ids: Sequence[int]
    seats: Sequence[int]
    volleys: Sequence[int]
    revisions: Sequence[int]
    started_at: Sequence[float]
    finished_at: Sequence[float]
    excerpts: Sequence[str | None] | None
    """None if there are none at all."""


class OwnFact(NamedTuple):
    """An attempt that concludes in the transaction of its task."""

    schedule_id: int
    seat: int
    volley: int
    revision: int
    started_at: float
    finished_at: float
    wakes: bool


class Brought(NamedTuple):
    """A result that was brought, to find out what became of it."""

    schedule_id: int
    scheduled_for: datetime
    volley: int
    outcome: str


class Running(NamedTuple):
    schedule_id: int
    seat: int
    volley: int


class Cancel(NamedTuple):
    schedule_id: int
    seat: int
    volley: int
    reason: str


class Orphan(NamedTuple):
    schedule_id: int
    seat: int
    scheduled_for: datetime
    volley: int
    number: int
    started_at: datetime
    work: str | None
    overlap: str | None
    revision: int | None


async def conclude(connection: Connection, node: int, facts: Sequence[Fact], wake: Sequence[int]) -> int:
    """How many rows were still ours; the others were taken away. `wake`: schedules that may have a free seat."""
    concluded: int = await connection.fetchval(statement("conclude"), node, *zip(*facts, strict=True), wake)
    return concluded


async def succeed(connection: Connection, facts: Successes, wake: Sequence[int]) -> int:
    """The same for attempts that succeeded."""
    concluded: int = await connection.fetchval(statement("succeed"), *facts, wake)
    return concluded


async def tried(
    connection: Connection, ids: Sequence[int], scheduled_for: Sequence[datetime]
) -> dict[tuple[int, datetime], Tried]:
    """Attempts on record, before the ones that have just ended."""
    rows = await connection.fetch(statement("tried"), ids, scheduled_for)
    return {(row[0], row[1]): Tried(attempts=row[2], lost=row[3]) for row in rows}


async def conclude_own(connection: Connection, fact: OwnFact, time_outs: Mapping[str, timedelta]) -> bool:
    """Whether it was still ours. `time_outs` hold for the rest of the transaction."""
    concluded: bool = await connection.fetchval(
        statement("conclude_own"), *fact, time_outs["statement_timeout"], time_outs["lock_timeout"],
        time_outs["idle_in_transaction_session_timeout"],
    )  # fmt: skip
    return concluded


async def still_running(connection: Connection, schedule_id: int, seat: int, volley: int) -> bool:
    """Waits for whoever is about to change that."""
    return await connection.fetchval(statement("still_running"), schedule_id, seat, volley) is not None


async def own_facts(connection: Connection, results: Sequence[Brought]) -> set[Brought]:
    """Those that are on record, under the very volley that brings them."""
    rows = await connection.fetch(statement("own_facts"), *zip(*results, strict=True))
    return {Brought(*row) for row in rows}


async def record_stale(connection: Connection, node: int, columns: Sequence[Sequence[object]]) -> None:
    """`columns`: schedules, scheduled_for, numbers, volleys, outcomes, errors."""
    await connection.execute(statement("record_stale"), node, *columns)


async def running_of_node(connection: Connection, node: int, limit: int) -> list[Running]:
    return [Running(*row) for row in await connection.fetch(statement("running_of_node"), node, limit)]


async def cancels(connection: Connection, node: int, limit: int) -> list[Cancel]:
    return [Cancel(*row) for row in await connection.fetch(statement("cancels"), node, limit)]


async def orphans(connection: Connection, node: int, limit: int) -> list[Orphan]:
    return [Orphan(*row) for row in await connection.fetch(statement("orphans"), node, limit)]


async def progress(
    connection: Connection,
    schedule_id: int,
    scheduled_for: datetime,
    volley: int,
    done: float | None,
    note: str | None,
) -> bool:
    """Whether that attempt is still the one that runs."""
    return (
        await connection.fetchval(statement("progress"), schedule_id, scheduled_for, volley, done, note)
        is not None
    )


async def usual_duration(connection: Connection, schedule_id: int, since: datetime) -> float | None:
    """Seconds that 95 in 100 of its last runs took at most; None if there were too few."""
    found: float | None = await connection.fetchval(statement("usual_duration"), schedule_id, since)
    return found
