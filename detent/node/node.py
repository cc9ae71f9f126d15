"""A node: one process with a lease, a pool of connections, and loops. What the loops do is its kind."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

import asyncpg

from detent import __version__, clock
from detent.node.heartbeat import Heartbeat
from detent.node.lease import Lease
from detent.observe.events import Events, Started
from detent.runner import Loop, Outage, Tick
from detent.settings import Settings
from detent.store import migrate, nodes
from detent.store.pool import LOST, Pool, StoreUnreachable, connect, open_pool

_POOL_SIZE: Final = 8
_PROGRESS_SECONDS: Final = 1.0
_LISTEN_AGAIN_SECONDS: Final = 1.0
CHANNEL: Final = "detent"


class Node:
    """Opens, runs and closes what every node has."""

    def __init__(self, settings: Settings, kind: str, events: Events) -> None:
        self.settings = settings
        self.events = events
        self.kind = kind
        self._progress = clock.monotonic()
        self.lease = Lease(settings, kind, events)
        self._heartbeat = Heartbeat(settings, self.lease, alive=lambda: self._progress)
        self.pool: Pool
        self.loops: list[Loop] = []
        self._outage = Outage(events)
        self._tasks: list[asyncio.Task[None]] = []
        self._heard: list[Callable[[str], None]] = []

    async def open(self) -> None:
        connection = await connect(self.settings)
        try:
            await migrate.refuse_old_schema(connection)
        finally:
            await connection.close()
        self.pool = await open_pool(self.settings, _POOL_SIZE)
        await self._heartbeat.start()
        self.loop("progress", self._make_progress, every=_PROGRESS_SECONDS)
        self.events.emit(Started(what=self.kind, detail=f"node {self.lease.id}, Detent {__version__}"))

    def loop(self, name: str, tick: Tick, *, every: float) -> Loop:
        made = Loop(name, tick, every=every, events=self.events, outage=self._outage)
        self.loops.append(made)
        return made

    def on_notice(self, hear: Callable[[str], None]) -> None:
        """Hints that something is due at once. They may get lost: every loop polls, too."""
        self._heard.append(hear)

    def start(self) -> None:
        self._tasks = [asyncio.create_task(loop.run(), name=loop.name) for loop in self.loops]
        if self.settings.listen and self._heard:
            self._tasks.append(asyncio.create_task(self._listen(), name="listen"))

    async def until_broken(self) -> None:
        """Loops survive everything that they can; one that ends by itself makes the node useless, and is raised."""
        ended, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            task.result()

    async def stop_loops(self) -> None:
        for loop in self.loops:
            loop.stop()
        for task in self._tasks:
            if task.get_name() == "listen":
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        """Leaves in peace: shards are free at once, nobody has to wait for the lease to run out."""
        await asyncio.to_thread(self._heartbeat.stop)
        with contextlib.suppress(*LOST, StoreUnreachable):
            async with self.pool.acquire() as connection:
                await nodes.leave(connection, self.lease.id)
        with contextlib.suppress(*LOST):
            async with asyncio.timeout(_LISTEN_AGAIN_SECONDS):
                await self.pool.close()
        self.pool.terminate()

    async def _make_progress(self) -> bool:
        self._progress = clock.monotonic()
        return False

    async def _listen(self) -> None:
        while True:
            connection: asyncpg.Connection | None = None
            try:
                connection = await connect(self.settings)
                gone = asyncio.Event()
                connection.add_termination_listener(lambda *_, gone=gone: gone.set())
                await connection.add_listener(CHANNEL, self._notice)
                await gone.wait()
            except (*LOST, StoreUnreachable):
                pass
            finally:
                if connection is not None:
                    connection.terminate()
            await clock.sleep(_LISTEN_AGAIN_SECONDS)

    def _notice(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        for hear in self._heard:
            hear(str(payload))
