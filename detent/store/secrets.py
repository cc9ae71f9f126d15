"""The secrets of tenants, as the store sees them: sealed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from detent.sealing import Sealed
from detent.store.pool import Connection
from detent.store.statements import statement


class Secret(NamedTuple):
    kind: str
    name: str
    sealed: Sealed


class Named(NamedTuple):
    """What may be told of a secret."""

    kind: str
    name: str
    key_id: str
    created_at: datetime
    retires_at: datetime | None


class Resealable(NamedTuple):
    id: int
    tenant_id: int
    kind: str
    name: str
    sealed: Sealed


async def live_secrets(connection: Connection, tenant_id: int) -> list[Secret]:
    rows = await connection.fetch(statement("live_secrets"), tenant_id)
    return [Secret(row[0], row[1], Sealed(row[2], row[3])) for row in rows]


async def insert_secret(connection: Connection, tenant_id: int, kind: str, name: str, sealed: Sealed) -> bool:
    """Whether the name was free."""
    found = await connection.fetchval(
        statement("insert_secret"), tenant_id, kind, name, sealed.key_id, sealed.data
    )
    return found is not None


async def replace_secret(connection: Connection, tenant_id: int, name: str, sealed: Sealed) -> None:
    await connection.execute(statement("replace_secret"), tenant_id, name, sealed.key_id, sealed.data)


async def retire_signing(connection: Connection, tenant_id: int, at: datetime) -> None:
    await connection.execute(statement("retire_signing"), tenant_id, at)


async def delete_secret(connection: Connection, tenant_id: int, name: str) -> bool:
    return await connection.fetchval(statement("delete_secret"), tenant_id, name) is not None


async def named_secrets(connection: Connection, tenant_id: int) -> list[Named]:
    return [Named(*row) for row in await connection.fetch(statement("named_secrets"), tenant_id)]


async def sealed_otherwise(connection: Connection, key_id: str, limit: int) -> list[Resealable]:
    rows = await connection.fetch(statement("sealed_otherwise"), key_id, limit)
    return [Resealable(row[0], row[1], row[2], row[3], Sealed(row[4], row[5])) for row in rows]


async def reseal(connection: Connection, key_id: str, sealed: Sequence[tuple[int, bytes]]) -> None:
    ids, data = zip(*sealed, strict=True)
    await connection.execute(statement("reseal"), ids, key_id, data)
