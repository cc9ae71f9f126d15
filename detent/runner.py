"""The shared runner: a loop is `tick()`, called again and again until it is stopped.

A tick is one bounded unit of work and returns whether there is more to do at once. The runner waits between ticks,
wakes early for a hint, survives the loss of the database with growing, jittered pauses, and says so once, not a
thousand times.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final

from detent import clock
from detent.observe.events import Events, LoopFailed, LoopRecovered

_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 2.0
"""Short enough to fire within seconds of the database's return; the jitter spreads the herd."""
_TICK_SECONDS: Final = 30.0
"""No tick takes longer: each of its calls has a deadline, and there are few."""

Tick = Callable[[], Awaitable[bool]]


class Loop:
    """One loop. `wake` brings the next tick forward."""

    def __init__(self, name: str, tick: Tick, *, every: float, events: Events) -> None:
        self.name = name
        self._tick = tick
        self._every = every
        self._events = events
        self._hint = asyncio.Event()
        self._stopped = False
        self._failures = 0
        self.on_failure: Callable[[], None] | None = None
        """Told when a tick failed: what it did is not known."""

    def wake(self) -> None:
        self._hint.set()

    def stop(self) -> None:
        self._stopped = True
        self._hint.set()

    async def run(self) -> None:
        while not self._stopped:
            self._hint.clear()
            more = await self._once()
            if not more and not self._stopped:
                await self._wait(self._every)

    async def _once(self) -> bool:
        try:
            async with asyncio.timeout(_TICK_SECONDS):
                more = await self._tick()
        except Exception as error:  # noqa: BLE001 the runner is where a loop survives anything
            self._failures += 1
            if self.on_failure is not None:
                self.on_failure()
            if self._failures == 1 or not _is_ordinary(error):
                self._events.emit(LoopFailed(loop=self.name, error=_said(error), failures=self._failures))
            pause = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2 ** min(self._failures, 10))
            if not self._stopped:
                await clock.sleep(pause * random.uniform(0.5, 1))  # noqa: S311
            return True
        if self._failures:
            self._events.emit(LoopRecovered(loop=self.name, failures=self._failures))
            self._failures = 0
        return more

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._hint.wait()
        except TimeoutError:
            pass


def _is_ordinary(error: Exception) -> bool:
    from detent.store.pool import LOST  # noqa: PLC0415 the runner serves loops without a store, too

    return isinstance(error, LOST)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
