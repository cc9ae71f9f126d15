"""The lease of a node, renewed by a thread with a connection of its own.

A handler that blocks the event loop must not cost the node its lease, so the heartbeat doesn't live in that loop. But a
process whose loop has stood still for a minute is no use to anybody: then the heartbeat stops, and others take over.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Callable
from typing import Final

import asyncpg

from detent import __version__, clock
from detent.domain.zone import TZDATA_VERSION
from detent.observe.events import Events, LeaseLost
from detent.settings import Settings
from detent.store import nodes
from detent.store.pool import LOST, StoreUnreachable, connect

_MARGIN_SECONDS: Final = 1.0
_RENEWALS_PER_TTL: Final = 3
_RETRY_SECONDS: Final = 0.2
_STANDSTILL_SECONDS: Final = 60.0


class Lease:
    """Node id and deadline. Read from the loop, written by the heartbeat; both are plain values."""

    def __init__(self, settings: Settings, kind: str, events: Events, alive: Callable[[], float]) -> None:
        """`alive` tells when the loop last made progress, by the monotonic clock."""
        self._settings = settings
        self._kind = kind
        self._events = events
        self._alive = alive
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self.id = 0
        self.deadline = 0.0
        """Until when we may act, by our monotonic clock."""

    @property
    def held(self) -> bool:
        return clock.monotonic() < self.deadline

    async def acquire(self) -> None:
        """The first lease; after it the thread takes over."""
        connection = await connect(self._settings)
        try:
            await self._register(connection)
        finally:
            await connection.close()
        self._thread = threading.Thread(target=self._beat, name="detent-heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_RETRY_SECONDS * 10)

    def _beat(self) -> None:
        asyncio.run(self._renew_for_ever())

    async def _renew_for_ever(self) -> None:
        connection: asyncpg.Connection | None = None
        while not self._stop.is_set():
            pause = self._settings.lease_ttl / _RENEWALS_PER_TTL
            try:
                if connection is None or connection.is_closed():
                    connection = await connect(self._settings)
                if clock.monotonic() - self._alive() < _STANDSTILL_SECONDS:
                    await self._renew(connection)
            except (*LOST, StoreUnreachable, asyncpg.PostgresError):
                if connection is not None:
                    connection.terminate()
                connection = None
                pause = _RETRY_SECONDS
            await asyncio.to_thread(self._stop.wait, pause)
        if connection is not None:
            await connection.close()

    async def _renew(self, connection: asyncpg.Connection) -> None:
        begin = clock.monotonic()
        async with asyncio.timeout(self._settings.lease_ttl / _RENEWALS_PER_TTL):
            if await nodes.renew_lease(connection, self.id, self._settings.lease_ttl):
                self.deadline = begin + self._settings.lease_ttl - _MARGIN_SECONDS
                return
        self._events.emit(LeaseLost(node=self.id))
        await self._register(connection)

    async def _register(self, connection: asyncpg.Connection) -> None:
        begin, node = clock.monotonic(), secrets.randbits(62)
        await nodes.register_node(
            connection, node, self._kind, __version__, TZDATA_VERSION, self._settings.lease_ttl
        )
        self.id = node
        self.deadline = begin + self._settings.lease_ttl - _MARGIN_SECONDS
