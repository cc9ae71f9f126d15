"""Firings, as commands see them: by their keys, one or many."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from detent.domain.instant import EPOCH
from detent.store.pool import Connection
from detent.store.statements import statement


class Key(NamedTuple):
    schedule_id: int
    scheduled_for: datetime


class Found(NamedTuple):
    slot_at: datetime
    """Nominal, whatever its key."""
    name: str | None
    """Of its schedule; None if that was deleted."""
    concluded: bool


class Letter(NamedTuple):
    """A dead firing."""

    schedule_id: int
    scheduled_for: datetime
    name: str
    number: int
    """Of its last attempt."""
    outcome: str
    error: str | None
    died_at: datetime


async def find_firing(connection: Connection, tenant_id: int, key: Key) -> Found | None:
    row = await connection.fetchrow(statement("find_firing"), tenant_id, *key)
    return Found(*row) if row else None


async def cancel(connection: Connection, key: Key, words: str) -> str | None:
    """What came of it: see cancel_v1."""
    said: str | None = await connection.fetchval(statement("cancel"), *key, words)
    return said


async def replay(connection: Connection, tenant_id: int, keys: Sequence[Key]) -> list[Key]:
    rows = await connection.fetch(statement("replay"), tenant_id, *zip(*keys, strict=True))
    return [Key(*row) for row in rows]


async def discard(connection: Connection, tenant_id: int, keys: Sequence[Key], words: str) -> list[Key]:
    rows = await connection.fetch(statement("discard"), tenant_id, *zip(*keys, strict=True), words)
    return [Key(*row) for row in rows]


async def dead_letters(
    connection: Connection, tenant_id: int, schedule_id: int | None, after: Letter | None, limit: int
) -> list[Letter]:
    place = (after.died_at, *after[:2]) if after else (EPOCH, 0, EPOCH)
    rows = await connection.fetch(statement("dead_letters"), tenant_id, schedule_id, *place, limit)
    return [Letter(*row) for row in rows]
