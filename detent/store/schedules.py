"""Schedules, as the store sees them: rows, revisions, cursors, and what a command does to waiting firings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from detent.domain import zone
from detent.domain.plan import Plan
from detent.domain.schedule import Schedule
from detent.store.pool import Connection
from detent.store.statements import statement


class Tenant(NamedTuple):
    id: int
    min_interval: timedelta


class Stored(NamedTuple):
    """A schedule that is locked for a change."""

    id: int
    revision: int
    status: str
    paused_until: datetime | None
    cadence: str
    origin: str | None
    """The app whose code declares it."""
    declared: str | None
    next_at: datetime | None
    active: bool
    fired_count: int
    spec: Mapping[str, object]
    tzdata: str | None
    """The zone rules that its slots follow."""


async def tenant(connection: Connection, name: str) -> Tenant | None:
    row = await connection.fetchrow(statement("tenant"), name)
    return Tenant(*row) if row else None


async def set_min_interval(connection: Connection, name: str, interval: timedelta) -> None:
    await connection.execute(statement("set_min_interval"), name, interval)


async def insert_schedule(
    connection: Connection, tenant_id: int, schedule: Schedule, *, status: str, origin: str | None,
    declared: str | None, by: str, reason: str | None, as_of: datetime, first: datetime,
) -> int | None:  # fmt: skip
    """The new id, or None if the name is taken. It holds from `as_of` on, and has no slot before `first`."""
    found: int | None = await connection.fetchval(
        statement("insert_schedule"), tenant_id, schedule.name, status, schedule.cadence_text, schedule.work_text,
        schedule.work.overlap.value, origin, declared, json.dumps(schedule.spec), by, reason, first, schedule.pool,
        schedule.priority, schedule.seats, schedule.start_deadline, schedule.needs, as_of, zone.TZDATA_VERSION,
    )  # fmt: skip
    return found


async def insert_schedules(
    connection: Connection, tenant_id: int, drawn: Sequence[tuple[Schedule, Plan]],
    *, origin: str | None, by: str, reason: str | None, as_of: datetime, first: datetime,
) -> dict[str, int]:  # fmt: skip
    """Each with its first window. They hold from `as_of` on, and have no slot before `first`. What comes back are the
    ids of those whose name was free."""
    rows = [
        (
            s.name, "paused" if s.paused else "active", s.cadence_text, s.work_text, s.work.overlap.value,
            json.dumps(s.spec), first if s.paused else window.next_at, not s.paused and window.next_at is not None,
            0 if s.paused else len(window.promises), s.pool, s.priority, s.seats, s.start_deadline, s.needs,
        )
        for s, window in drawn
    ]  # fmt: skip
    if not rows:
        return {}
    columns = zip(*rows, strict=True)
    found = await connection.fetch(
        statement("insert_schedules"), tenant_id, *columns, origin, by, reason, as_of, zone.TZDATA_VERSION
    )
    return {row["name"]: row["id"] for row in found}


async def promise_many(
    connection: Connection, firings: Sequence[tuple[int, datetime, datetime, str]]
) -> None:
    """Schedule, slot, due at, kind."""
    await connection.execute(statement("promise_many"), *zip(*firings, strict=True))


async def lock_schedule(connection: Connection, tenant_id: int, name: str) -> Stored | None:
    """Two statements: what the second one reads was committed before the first one got its lock. One that was deleted
    meanwhile is looked for again, for a new one may have its name."""
    while (schedule_id := await connection.fetchval(statement("lock_timer"), tenant_id, name)) is not None:
        if row := await connection.fetchrow(statement("lock_schedule"), schedule_id):
            return Stored(**{**row, "spec": json.loads(row["spec"])})
    return None


async def revise(
    connection: Connection, schedule_id: int, number: int, schedule: Schedule, *, by: str, reason: str | None,
    declared: str | None, as_of: datetime,
) -> None:  # fmt: skip
    await connection.execute(
        statement("revise"), schedule_id, number, json.dumps(schedule.spec), by, reason, schedule.cadence_text,
        schedule.work_text, schedule.work.overlap.value, schedule.pool, schedule.priority, schedule.seats,
        schedule.start_deadline, schedule.needs, declared, as_of, zone.TZDATA_VERSION,
    )  # fmt: skip


async def renew_revision(
    connection: Connection, schedule_id: int, number: int, *, by: str, reason: str | None, as_of: datetime
) -> None:
    """The same spec, by the zone rules of today."""
    await connection.execute(
        statement("renew_revision"), schedule_id, number, by, reason, as_of, zone.TZDATA_VERSION
    )


async def set_status(
    connection: Connection, schedule_id: int, status: str, reason: str | None, until: datetime | None = None
) -> None:
    await connection.execute(statement("set_status"), schedule_id, status, reason, until)


async def set_timer(
    connection: Connection,
    schedule_id: int,
    next_at: datetime | None,
    *,
    active: bool,
    fired: int,
    revision: int,
) -> None:
    await connection.execute(statement("set_timer"), schedule_id, next_at, active, fired, revision)


async def promise(
    connection: Connection, schedule_id: int, scheduled_for: Sequence[datetime], slots: Sequence[datetime | None],
    due_at: Sequence[datetime], kinds: Sequence[str],
) -> dict[datetime, datetime]:  # fmt: skip
    """The slots that are promises only now, with the instants they are due."""
    return dict(
        await connection.fetch(statement("promise"), schedule_id, scheduled_for, slots, due_at, kinds)
    )


async def omit(
    connection: Connection, schedule_id: int, starts: Sequence[datetime], ends: Sequence[datetime],
    reasons: Sequence[str], counts: Sequence[int | None],
) -> None:  # fmt: skip
    await connection.execute(statement("omit"), schedule_id, starts, ends, reasons, counts)


async def omit_many(
    connection: Connection, omissions: Sequence[tuple[int, datetime, datetime, str, int | None]]
) -> None:
    """Schedule, from, to, reason, count."""
    await connection.execute(statement("omit_many"), *zip(*omissions, strict=True))


async def hold(
    connection: Connection, schedule_id: int, reason: str, before: datetime | None = None
) -> list[datetime]:
    """All that waits and is due before an instant, or at any time."""
    return [row[0] for row in await connection.fetch(statement("hold"), schedule_id, reason, before)]


async def hold_but(
    connection: Connection, schedule_id: int, reason: str, after: datetime, keep: Sequence[datetime]
) -> list[datetime]:
    """The slots after an instant, but those that are kept."""
    found = await connection.fetch(statement("hold_but"), schedule_id, reason, after, keep)
    return [row[0] for row in found]


async def release(
    connection: Connection, schedule_id: int, slots: Sequence[datetime], as_of: datetime
) -> list[datetime]:
    return [row[0] for row in await connection.fetch(statement("release"), schedule_id, slots, as_of)]


async def replace_waiting(connection: Connection, schedule_id: int) -> None:
    await connection.execute(statement("replace_waiting"), schedule_id)


async def last_waiting(connection: Connection, schedule_id: int) -> datetime | None:
    found: datetime | None = await connection.fetchval(statement("last_waiting"), schedule_id)
    return found


async def ahead(connection: Connection, schedule_id: int, since: datetime) -> int:
    found: int = await connection.fetchval(statement("ahead"), schedule_id, since)
    return found


async def overdue_pauses(connection: Connection, limit: int) -> list[tuple[int, str, str]]:
    """Schedule, its tenant, its name."""
    return [tuple(row) for row in await connection.fetch(statement("overdue_pauses"), limit)]


class PauseWish(NamedTuple):
    """A target asks that its schedule be paused."""

    schedule_id: int
    revision: int
    reason: str
    tenant: str
    name: str


async def wish_pauses(connection: Connection, wishes: Sequence[tuple[int, int, str]]) -> None:
    """Schedule, the revision that ran, reason."""
    await connection.execute(statement("wish_pauses"), *zip(*wishes, strict=True))


async def pause_wishes(connection: Connection, limit: int) -> list[PauseWish]:
    return [PauseWish(*row) for row in await connection.fetch(statement("pause_wishes"), limit)]


async def forget_pause_wish(connection: Connection, wish: PauseWish) -> None:
    await connection.execute(statement("forget_pause_wish"), wish.schedule_id, wish.revision)


async def notify(connection: Connection, pool: str) -> None:
    await connection.execute(statement("notify"), pool)


async def declared_by(connection: Connection, tenant_id: int, origin: str) -> dict[str, str | None]:
    """What an app has declared, by name."""
    return dict(await connection.fetch(statement("declared_by"), tenant_id, origin))


async def schedule_names(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    return dict(await connection.fetch(statement("schedule_names"), ids))


async def next_firings(connection: Connection, limit: int) -> list[tuple[str, datetime]]:
    """Names and slots, in the order in which they are due."""
    return [tuple(row) for row in await connection.fetch(statement("next_firings"), limit)]
