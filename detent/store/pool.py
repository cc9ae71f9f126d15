"""Connections: a bounded pool, a deadline on every call, time-outs in every session.

A cut network makes drivers wait for minutes, and a session that stops inside a transaction holds its locks as long as
the server lets it. So every call has a deadline of ours, and every session has the server's time-outs, all of them
below the time to live of a lease. Both ends send keep-alives, so that a session that only listens learns of a cut, and
the server learns of a client that is gone.

Behind a pooler in transaction mode nothing may be kept in a session: no prepared statements, no settings. There the
time-outs come from the roles (`detent migrate` sets them), plans are cached by the functions in the database, and each
call is a transaction, for a statement is prepared and run in two steps that must meet the same server process.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

import asyncpg
from asyncpg import Connection, Pool

from detent.domain.errors import DetentError
from detent.settings import Settings, masked

__all__ = [
    "GONE",
    "LOST",
    "Connection",
    "Pool",
    "StoreUnreachable",
    "connect",
    "connect_patiently",
    "deadline_seconds",
    "give_up",
    "open_pool",
    "open_task_pool",
    "time_outs",
]

_OF_TTL: Final = 0.8
_LONGEST_DEADLINE_SECONDS: Final = 8.0
CONNECT_SECONDS: Final = 5.0
_CANCEL_SECONDS: Final = 1.0
"""A server that doesn't answer a request to cancel within it is cut off: the connection is given up."""
_PATIENT_SECONDS: Final = 3600.0
"""For migrations and the upkeep of partitions, which wait for others and may work for long."""

GONE: Final = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.InsufficientResourcesError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.TargetServerAttributeNotMatched,
)
"""The database went away, doesn't answer, takes nobody in, or has another leader."""
LOST: Final = (
    *GONE,
    asyncpg.OperatorInterventionError,
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.QueryCanceledError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.OutdatedSchemaCacheError,
    asyncpg.InvalidCachedStatementError,
)
"""What a loop survives: besides, the database is busy, was migrated, or asks to try again."""

_SESSION: Final = {
    "application_name": "detent",
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
    "jit": "off",
    "timezone": "UTC",
}
# Parts of a call's deadline: 7, 3 and 4 seconds for a time to live of ten.
_TIME_OUTS: Final = {
    "statement_timeout": 0.875,
    "lock_timeout": 0.375,
    "idle_in_transaction_session_timeout": 0.5,
}
_PATIENT_SESSION: Final = _SESSION | {
    "application_name": "detent-maintenance",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "60s",
}
_TASK_SESSION: Final = _SESSION | {
    "application_name": "detent-task",
    "statement_timeout": "1h",
    "lock_timeout": "30s",
    "idle_in_transaction_session_timeout": "60s",
}
_KEEP_ALIVE: Final = {"TCP_KEEPIDLE": 5, "TCP_KEEPINTVL": 2, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 8000}


class StoreUnreachable(DetentError):
    """The database can't be reached."""

    code = "store_unreachable"


def deadline_seconds(settings: Settings) -> float:
    """Of one call. Below the lease's time to live, so that a cut node steps down in time."""
    return min(_LONGEST_DEADLINE_SECONDS, _OF_TTL * settings.lease_ttl)


def time_outs(settings: Settings) -> dict[str, timedelta]:
    """Of a session of ours."""
    deadline = timedelta(seconds=deadline_seconds(settings))
    return {name: part * deadline for name, part in _TIME_OUTS.items()}


async def connect(settings: Settings) -> Connection:
    """One connection, for what must not wait for a pool: heartbeats, LISTEN."""
    try:
        return await _kept_alive(await asyncpg.connect(settings.database_url, **_options(settings)))
    except _UNREACHABLE as error:
        raise _unreachable(settings.database_url, error) from error


async def connect_patiently(settings: Settings) -> Connection:
    """One direct connection with long time-outs, as a user who owns the tables: migrations, partitions."""
    url = settings.maintenance_url or settings.database_url
    options = {
        "command_timeout": _PATIENT_SECONDS,
        "timeout": CONNECT_SECONDS,
        "server_settings": _PATIENT_SESSION,
    }
    try:
        return await _kept_alive(await asyncpg.connect(url, target_session_attrs="read-write", **options))
    except _UNREACHABLE as error:
        raise _unreachable(url, error) from error


async def open_pool(settings: Settings, size: int) -> Pool:
    """A pool of at most `size` connections, made as they are needed."""
    return await _open_pool(settings, size, reset=_nothing_to_reset, **_options(settings))


async def open_task_pool(settings: Settings, size: int) -> Pool:
    """The same, for what tasks write: it may take longer than ours, and they may leave anything behind."""
    options = _options(settings) | {"command_timeout": _PATIENT_SECONDS}
    if not settings.pooler:
        options["server_settings"] = _TASK_SESSION
    return await _open_pool(settings, size, **options)


def give_up(connection: Connection) -> None:
    """Closes one in whose state we can't be sure: the server rolls back what is open."""
    with suppress(asyncpg.InterfaceError):  # the driver has noticed by itself, and taken it out of its pool
        connection.terminate()


async def _open_pool(settings: Settings, size: int, **options: Any) -> Pool:
    try:
        return await asyncpg.create_pool(
            settings.database_url,
            min_size=1,
            max_size=size,
            max_inactive_connection_lifetime=300,
            init=_kept_alive,
            **options,
        )
    except _UNREACHABLE as error:
        raise _unreachable(settings.database_url, error) from error


_UNREACHABLE: Final = (
    OSError,
    TimeoutError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)


class _Session(Connection):  # type: ignore[misc]
    """Gives itself up when the server is cut off, which the driver would wait for once more as long as for the call."""

    __slots__ = ()

    async def _cancel(self, *waiters: Any) -> None:
        async with asyncio.timeout(_CANCEL_SECONDS) as limit:
            await super()._cancel(*waiters)
        if limit.expired():
            self.terminate()


class _PooledSession(_Session):
    """Behind a pooler: each call is a transaction, if it isn't in one."""

    __slots__ = ()

    async def _execute(self, *arguments: Any, **options: Any) -> Any:
        if self.is_in_transaction():
            return await super()._execute(*arguments, **options)
        async with self.transaction():
            return await super()._execute(*arguments, **options)


def _options(settings: Settings) -> dict[str, Any]:
    shared = {
        "command_timeout": deadline_seconds(settings),
        "timeout": CONNECT_SECONDS,
        "target_session_attrs": "read-write",  # of several hosts, the one that leads
    }
    if settings.pooler:
        return shared | {
            "connection_class": _PooledSession,
            "statement_cache_size": 0,
            "server_settings": {"application_name": "detent"},
        }
    limits = {name: f"{1000 * limit.total_seconds():.0f}" for name, limit in time_outs(settings).items()}
    return shared | {"connection_class": _Session, "server_settings": _SESSION | limits}


async def _kept_alive(connection: Connection) -> Connection:
    """An idle connection learns of a cut within half a minute."""
    used = connection._transport.get_extra_info("socket")  # noqa: SLF001 the driver has no option for it
    if used is not None and used.family in (socket.AF_INET, socket.AF_INET6):
        used.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in _KEEP_ALIVE.items():
            if hasattr(socket, option):  # not every system has each
                used.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return connection


async def _nothing_to_reset(_: Connection) -> None:
    """We use SET LOCAL only, so that a connection is clean when its transaction ends."""


def _unreachable(url: str, error: BaseException) -> StoreUnreachable:
    said = str(error).strip() or type(error).__name__
    return StoreUnreachable(
        f"the database can't be reached: {said.rstrip('.')}. Is it running, and is this where it is: {masked(url)}?"
        " DETENT_DATABASE_URL says so; `detent dev` brings a database of its own"
    )
