"""The heartbeat: a thread with a connection of its own that renews the lease of its node.

A handler that blocks the event loop must not cost the node its lease, so the heartbeat doesn't live in that loop. But a
process whose loop has stood still for a minute is no use to anybody: then the heartbeat stops, and others take over.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import asyncpg

from detent import clock
from detent.node.lease import Lease
from detent.settings import Settings
from detent.store.pool import LOST, StoreUnreachable, connect

_RETRY_SECONDS: Final = 0.2
_STANDSTILL_SECONDS: Final = 60.0


class Heartbeat:
    """Begins with the first lease, ends with `stop`."""

    def __init__(self, settings: Settings, lease: Lease, alive: Callable[[], float]) -> None:
        """`alive` tells when the loop last made progress, by the monotonic clock."""
        self._settings = settings
        self._lease = lease
        self._alive = alive
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    async def start(self) -> None:
        connection = await connect(self._settings)
        try:
            await self._lease.register(connection)
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
            pause = self._lease.renew_every
            try:
                if connection is None or connection.is_closed():
                    connection = await connect(self._settings)
                if clock.monotonic() - self._alive() < _STANDSTILL_SECONDS:
                    await self._lease.renew(connection)
            except (*LOST, StoreUnreachable, asyncpg.PostgresError):
                if connection is not None:
                    connection.terminate()
                connection = None
                pause = _RETRY_SECONDS
            await asyncio.to_thread(self._stop.wait, pause)
        if connection is not None:
            with suppress(*LOST):
                await connection.close(timeout=_RETRY_SECONDS)
            connection.terminate()
