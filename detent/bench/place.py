"""Where a benchmark runs: a fresh embedded PostgreSQL, or a fresh database in a given one; nothing is left behind."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from detent.settings import Settings
from detent.store import migrate
from detent.store.pool import Connection, connect_patiently
from detent.store.temporary import temporary_postgres


@contextmanager
def place(url: str | None) -> Iterator[Settings]:
    """Settings for a migrated, empty database, durable as any."""
    if url is None:
        with temporary_postgres() as server:
            yield asyncio.run(_migrated(server.url))
        return
    name = f"detent_bench_{secrets.token_hex(4)}"
    asyncio.run(_execute(url, f"create database {name}"))
    try:
        yield asyncio.run(_migrated(urlunsplit(urlsplit(url)._replace(path=f"/{name}"))))
    finally:
        asyncio.run(_execute(url, f"drop database if exists {name} with (force)"))


async def _migrated(url: str) -> Settings:
    settings = Settings(database_url=url)
    connection = await connect_patiently(settings)
    try:
        await migrate.migrate(connection)
    finally:
        await connection.close()
    return settings


async def _execute(url: str, sql: str) -> None:
    connection: Connection = await asyncpg.connect(url)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


async def open_days(connection: Connection) -> None:
    """Partitions for yesterday to tomorrow: runs cross midnight."""
    await connection.execute("select detent.ensure_partitions(current_date - 1, current_date + 1)")
