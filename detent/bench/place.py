"""Where a benchmark runs: a fresh embedded PostgreSQL, or a fresh database in a given one; nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from detent.settings import Settings
from detent.store import migrate
from detent.store.embedded import EmbeddedPostgres
from detent.store.pool import Connection, connect_patiently
from detent.store.temporary import temporary_postgres

_OUTLIVES_A_RESTART: Final = Path("/var/tmp")  # noqa: S108 - a folder of its own is made in it


@contextmanager
def place(url: str | None) -> Iterator[Settings]:
    """Settings for a migrated, empty database, durable as any."""
    if url is None:
        with durable_postgres() as server:
            yield asyncio.run(_migrated(server.url))
        return
    with fresh_database(url) as database:
        yield asyncio.run(_migrated(database))


@contextmanager
def durable_postgres() -> Iterator[EmbeddedPostgres]:
    """An embedded server on a disk. Temporary files lie in memory on many systems, and there fsync costs nothing."""
    decided = "TMPDIR" in os.environ or not os.access(_OUTLIVES_A_RESTART, os.W_OK)
    with temporary_postgres(within=None if decided else _OUTLIVES_A_RESTART) as server:
        yield server


@contextmanager
def fresh_database(url: str) -> Iterator[str]:
    """The URL of an empty database on this server, which is dropped afterwards."""
    name = f"detent_bench_{secrets.token_hex(4)}"
    asyncio.run(_execute(url, f"create database {name}"))
    try:
        yield urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
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
