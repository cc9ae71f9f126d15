"""Stores in a PostgreSQL of the receiver's own: one table, one row a key.

    PostgresStore(lambda: pool.connection())       # psycopg 3, or whatever gives DB-API connections as `with` does
    AsyncPostgresStore(pool)                       # asyncpg

`create()` makes the table if there is none; `forget()` removes what is older than a month: call it once a day.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any, Final, Protocol

from detent.receiver.store import KEPT, Standing

_CREATE: Final = """\
create table if not exists detent_received (
  key text primary key,
  token bigint not null,
  done boolean not null default false,
  seen_at timestamptz not null default now()
)"""
_BEGIN: Final = """\
insert into detent_received (key, token) values (%s, %s)
on conflict (key) do update set token = excluded.token, seen_at = now()
  where not detent_received.done and detent_received.token < excluded.token
returning 1"""
_LOOK: Final = "select done from detent_received where key = %s"
_DONE: Final = "update detent_received set done = true where key = %s"
_FORGET: Final = "delete from detent_received where seen_at < now() - %s::interval"


class PostgresStore:
    """`connect` gives a connection, and takes it back committed."""

    def __init__(self, connect: Callable[[], AbstractContextManager[Any]]) -> None:
        self._connect = connect

    def create(self) -> None:
        self._run(_CREATE)

    def forget(self, older_than: timedelta = KEPT) -> None:
        self._run(_FORGET, older_than)

    def begin(self, key: str, token: int) -> Standing:
        with self._connect() as connection:
            if connection.execute(_BEGIN, (key, token)).fetchone() is not None:
                return Standing.NEW
            row = connection.execute(_LOOK, (key,)).fetchone()
            return Standing.DUPLICATE if row is not None and row[0] else Standing.STALE

    def done(self, key: str) -> None:
        self._run(_DONE, key)

    def _run(self, sql: str, *arguments: object) -> None:
        with self._connect() as connection:
            connection.execute(sql, arguments)


class Asyncpg(Protocol):
    """A pool or a connection of asyncpg, as far as it is used."""

    async def fetchval(self, query: str, *arguments: Any) -> Any: ...
    async def execute(self, query: str, *arguments: Any) -> Any: ...


class AsyncPostgresStore:
    def __init__(self, pool: Asyncpg) -> None:
        self._pool = pool

    async def create(self) -> None:
        await self._pool.execute(_CREATE)

    async def forget(self, older_than: timedelta = KEPT) -> None:
        await self._pool.execute(_numbered(_FORGET), older_than)

    async def begin(self, key: str, token: int) -> Standing:
        if await self._pool.fetchval(_numbered(_BEGIN), key, token) is not None:
            return Standing.NEW
        done = await self._pool.fetchval(_numbered(_LOOK), key)
        return Standing.DUPLICATE if done else Standing.STALE

    async def done(self, key: str) -> None:
        await self._pool.execute(_numbered(_DONE), key)


def _numbered(sql: str) -> str:
    """As asyncpg writes parameters."""
    first, *rest = sql.split("%s")
    return first + "".join(f"${number}{part}" for number, part in enumerate(rest, start=1))
