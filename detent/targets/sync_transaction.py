"""A transaction for functions that can't await: each call waits in their thread for what the worker's loop does."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncpg

Wait = Callable[[Coroutine[Any, Any, Any]], Any]
"""Runs it in the worker's loop until it ends."""


class SyncConnection:
    """What asyncpg's connection offers, without await."""

    def __init__(self, connection: asyncpg.Connection, wait: Wait) -> None:
        self._connection = connection
        self._wait = wait

    def execute(self, query: str, *arguments: Any) -> str:
        return str(self._wait(self._connection.execute(query, *arguments)))

    def executemany(self, command: str, arguments: Iterable[Any]) -> None:
        self._wait(self._connection.executemany(command, arguments))

    def fetch(self, query: str, *arguments: Any) -> list[Any]:
        return list(self._wait(self._connection.fetch(query, *arguments)))

    def fetchrow(self, query: str, *arguments: Any) -> Any:
        return self._wait(self._connection.fetchrow(query, *arguments))

    def fetchval(self, query: str, *arguments: Any) -> Any:
        return self._wait(self._connection.fetchval(query, *arguments))


class SyncTransaction:
    """One block of `with`."""

    def __init__(self, transaction: AbstractAsyncContextManager[asyncpg.Connection], wait: Wait) -> None:
        self._transaction = transaction
        self._wait = wait

    def __enter__(self) -> SyncConnection:
        return SyncConnection(self._wait(_enter(self._transaction)), self._wait)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._wait(_leave(self._transaction, kind, error, trace))


async def _enter(transaction: AbstractAsyncContextManager[asyncpg.Connection]) -> asyncpg.Connection:
    return await transaction.__aenter__()


async def _leave(
    transaction: AbstractAsyncContextManager[asyncpg.Connection],
    kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None,
) -> None:  # fmt: skip
    await transaction.__aexit__(kind, error, trace)
