"""Connections: a bounded pool, a deadline on every call, time-outs in every session.

A cut network makes drivers wait for minutes, and a session that stops inside a transaction holds its locks as long as
the server lets it. So every call has a deadline of ours, and every session has the server's time-outs, all of them
below the time to live of a lease.

Behind a pooler in transaction mode nothing may be kept in a session: no prepared statements, no settings. There the
time-outs come from the roles (`detent migrate` sets them) and plans are cached by the functions in the database.
"""

from __future__ import annotations

import asyncio
from typing import Final

import asyncpg

from detent.domain.errors import DetentError
from detent.settings import Settings

Connection = asyncpg.Connection
Pool = asyncpg.Pool

DEADLINE_SECONDS: Final = 8.0
"""Of one call. Below the lease's time to live, so that a cut node steps down in time."""
CONNECT_SECONDS: Final = 5.0

LOST: Final = (
    OSError,
    TimeoutError,
    asyncio.TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.QueryCanceledError,
    asyncpg.IdleInTransactionSessionTimeoutError,
)
"""What a loop survives: the database went away, is busy, or asks to try again."""

_SESSION: Final = {
    "application_name": "detent",
    "statement_timeout": "7s",
    "lock_timeout": "3s",
    "idle_in_transaction_session_timeout": "4s",
    "jit": "off",
    "timezone": "UTC",
}


class StoreUnreachable(DetentError):
    """The database can't be reached."""

    code = "store_unreachable"


async def connect(settings: Settings) -> Connection:
    """One connection, for what must not wait for a pool: heartbeats, LISTEN, migrations."""
    try:
        return await asyncpg.connect(settings.database_url, **_options(settings))
    except (OSError, TimeoutError, asyncpg.PostgresError) as error:
        raise StoreUnreachable(f"the database can't be reached: {_reason(error)}") from error


async def open_pool(settings: Settings, size: int) -> Pool:
    """A pool of at most `size` connections, made as they are needed."""
    try:
        return await asyncpg.create_pool(
            settings.database_url,
            min_size=1,
            max_size=size,
            max_inactive_connection_lifetime=300,
            reset=_nothing_to_reset,
            **_options(settings),
        )
    except (OSError, TimeoutError, asyncpg.PostgresError) as error:
        raise StoreUnreachable(f"the database can't be reached: {_reason(error)}") from error


def _options(settings: Settings) -> dict[str, object]:
    shared: dict[str, object] = {"command_timeout": DEADLINE_SECONDS, "timeout": CONNECT_SECONDS}
    if settings.pooler:
        return {**shared, "statement_cache_size": 0}
    return {**shared, "server_settings": _SESSION}


async def _nothing_to_reset(_: Connection) -> None:
    """We use SET LOCAL only, so that a connection is clean when its transaction ends."""


def _reason(error: BaseException) -> str:
    return str(error).strip() or type(error).__name__
