"""A real PostgreSQL for the tests: one server a test process, a fresh migrated database a test.

The server starts with the first test that asks for it (0.4 s), a database is a copy of a template (20 ms). Durability is
off; what is tested about it starts servers of its own. Use the fixtures, which tests/conftest.py offers to all folders:

* `database`: the URL of a fresh migrated database with partitions from yesterday to the day after tomorrow.
* `module_database`: the same, one for a module. `empty_database`: nothing in it.
* `settings`: `Settings` for `database`.
* `connect`: `await connect()` is a session as Detent's own, `await connect(at="2026-03-01T00:00Z")` one at that time.
* `connection`: one such session.

Async tests need no mark. To move a session through time: `await set_now(connection, instant)`.
To meet in a race: `await until_blocked(watcher, blocked)`. To wait for anything else in the database: `until`.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import asyncpg
import pytest
import pytest_asyncio

from detent.settings import Settings
from detent.store import migrate, pool
from detent.store.embedded import EmbeddedPostgres
from detent.store.temporary import temporary_postgres

T = TypeVar("T")
Connect = Callable[..., Awaitable[asyncpg.Connection]]

NOT_DURABLE = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_connections": "200",
}
PATIENCE_SECONDS = 10
ROOM_BYTES = 2 << 30


class Server:
    """The server of this test process. Databases are made by a session in a thread of its own, so that tests with and
    without a loop can ask for them."""

    def __init__(self, postgres: EmbeddedPostgres) -> None:
        self.postgres = postgres
        self._numbers = itertools.count(1)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="test-postgres", daemon=True)
        self._thread.start()
        self._admin = self.run(asyncpg.connect(postgres.url))
        self._copy = "" if self._admin.get_server_version().major < 15 else " strategy file_copy"
        self._migrated: str | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def execute(self, sql: str) -> None:
        """As superuser, in the database `postgres`."""
        self.run(self._admin.execute(sql))

    def url(self, database: str) -> str:
        return self.postgres.url.replace("/postgres?", f"/{database}?")

    def fresh(self, *, template: str = "template0") -> str:
        name = f"test_{next(self._numbers)}"
        self.execute(f"create database {name} template {template}{self._copy}")
        return self.url(name)

    def migrated(self) -> str:
        if self._migrated is None:
            url = self.fresh()
            self.run(_migrate(url))
            self._migrated = _name_of(url)
        return self.fresh(template=self._migrated)

    def drop(self, url: str) -> None:
        self.execute(f"drop database if exists {_name_of(url)} with (force)")

    def close(self) -> None:
        self.run(self._admin.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _name_of(url: str) -> str:
    return url.rpartition("?")[0].rpartition("/")[2]


async def _migrate(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await migrate.migrate(connection)
        await connection.execute("select detent.ensure_partitions(current_date - 1, current_date + 2)")
    finally:
        await connection.close()


async def set_now(connection: asyncpg.Connection, instant: datetime | str | None) -> None:
    """From here on it is this instant for the session, as SQL asks; None is the real time again."""
    text = instant.isoformat() if isinstance(instant, datetime) else instant or ""
    await connection.execute("select set_config('detent.now', $1, false)", text)


async def until_blocked(watcher: asyncpg.Connection, blocked: asyncpg.Connection) -> None:
    """Until that session waits for a lock."""
    pid = blocked.get_server_pid()
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await watcher.fetchval("select cardinality(pg_blocking_pids($1)) > 0", pid):
            continue


async def until(
    connection: asyncpg.Connection, condition: str, *arguments: Any, seconds: float = PATIENCE_SECONDS
) -> Any:
    """Until that SQL expression is true (or not zero); returns it. The server waits between two looks, not we."""
    async with asyncio.timeout(seconds):
        while True:
            found, _ = await connection.fetchrow(f"select ({condition}), pg_sleep(0.01)", *arguments)
            if found:
                return found


def in_memory() -> Path | None:
    """A folder in memory, if there is one with room. A database a test is a thousand files a second, made and deleted, and
    ext4 looks at each inode that was deleted a moment ago before it gives out another: most of the time went there."""
    shared = Path("/dev/shm")
    if not shared.is_dir() or not os.access(shared, os.W_OK | os.X_OK):
        return None
    return shared if shutil.disk_usage(shared).free > ROOM_BYTES else None


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    with temporary_postgres(NOT_DURABLE, within=in_memory()) as started:
        server = Server(started)
        try:
            yield server
        finally:
            server.close()


@pytest.fixture
def database(postgres: Server) -> Iterator[str]:
    url = postgres.migrated()
    yield url
    postgres.drop(url)


@pytest.fixture(scope="module")
def module_database(postgres: Server) -> Iterator[str]:
    url = postgres.migrated()
    yield url
    postgres.drop(url)


@pytest.fixture
def empty_database(postgres: Server) -> Iterator[str]:
    url = postgres.fresh()
    yield url
    postgres.drop(url)


@pytest.fixture
def settings(database: str) -> Settings:
    return Settings(database_url=database)


@pytest_asyncio.fixture
async def connect(database: str):
    """Sessions as Detent's own, closed after the test."""
    made: list[asyncpg.Connection] = []

    async def session(*, at: datetime | str | None = None, **changes: Any) -> asyncpg.Connection:
        connection = await pool.connect(Settings(database_url=database, **changes))
        made.append(connection)
        if at is not None:
            await set_now(connection, at)
        return connection

    yield session
    with ExitStack() as closing:
        for connection in made:
            closing.callback(connection.terminate)


@pytest_asyncio.fixture
async def connection(connect: Connect) -> asyncpg.Connection:
    return await connect()
