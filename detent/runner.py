"""The shared runner: a loop is `tick()`, called again and again until it is stopped.

A tick is one bounded unit of work and returns whether there is more to do at once. The runner waits between ticks,
wakes early for a hint, survives the loss of the database with growing, jittered pauses, and says so once for all loops
of a process, not a thousand times.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from detent import clock
from detent.observe.events import Events, LoopFailed, LoopRecovered, StoreBack, StoreLost
from detent.store.pool import GONE, LOST

_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 2.0
"""Short enough to fire within seconds of the database's return; the jitter spreads the herd."""
_TICK_SECONDS: Final = 30.0
"""No tick takes longer: each of its calls has a deadline, and there are few."""

Tick = Callable[[], Awaitable[bool]]


class Outage:
    """The database is away as long as one loop of the process finds it so."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._without: set[str] = set()
        self._since = 0.0

    def lost(self, loop: str, error: str) -> None:
        if not self._without:
            self._since = clock.monotonic()
            self._events.emit(StoreLost(error=error))
        self._without.add(loop)

    def back(self, loop: str) -> None:
        if loop in self._without:
            self._without.remove(loop)
            if not self._without:
                self._events.emit(StoreBack(seconds=clock.monotonic() - self._since))


class Loop:
    """One loop. `wake` brings the next tick forward."""

    def __init__(self, name: str, tick: Tick, *, every: float, events: Events, outage: Outage) -> None:
        self.name = name
        self._outage = outage
        self._tick = tick
        self._every = every
        self._events = events
        self._hint = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._stopped = False
        self._failures = 0
        self._told = False
        self.on_failure: Callable[[], None] | None = None
        """Told when a tick failed: what it did is not known."""

    def wake(self) -> None:
        self._hint.set()

    def stop(self) -> None:
        self._stopped = True
        self._hint.set()

    async def stop_and_wait(self, seconds: float) -> None:
        """Until the tick that is under way has ended, if there is one; not longer than that."""
        self.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._idle.wait()

    async def run(self) -> None:
        self._idle.clear()
        try:
            while not self._stopped:
                self._hint.clear()
                more = await self._once()
                if not more and not self._stopped:
                    await self._wait(self._every)
        finally:
            self._idle.set()

    async def _once(self) -> bool:
        try:
            async with asyncio.timeout(_TICK_SECONDS):
                more = await self._tick()
        except Exception as error:  # noqa: BLE001 the runner is where a loop survives anything
            self._failures += 1
            self._tell(_cause(error))
            if self.on_failure is not None:
                self.on_failure()
            pause = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2 ** min(self._failures, 10))
            if not self._stopped:
                await clock.sleep(pause * random.uniform(0.5, 1))  # noqa: S311
            return True
        self._outage.back(self.name)
        if self._told:
            self._events.emit(LoopRecovered(loop=self.name, failures=self._failures))
        self._failures, self._told = 0, False
        return more

    def _tell(self, error: Exception) -> None:
        if isinstance(error, GONE):
            self._outage.lost(self.name, _said(error))
        elif not self._told or not isinstance(error, LOST):
            self._told = True
            self._events.emit(LoopFailed(loop=self.name, error=_said(error), failures=self._failures))

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._hint.wait()
        except TimeoutError:
            pass


def _cause(error: Exception) -> Exception:
    """Of tasks that failed together in one tick: an error that is not ordinary, if there is one."""
    if not isinstance(error, ExceptionGroup):
        return error
    causes = [_cause(each) for each in error.exceptions]
    return next((cause for cause in causes if not isinstance(cause, LOST)), causes[0])


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
