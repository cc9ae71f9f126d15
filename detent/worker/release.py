"""Holds firings that were claimed ahead, and lets each go once the database's clock has reached its instant."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import Final

from detent import clock
from detent.clock import DatabaseClock
from detent.worker.hand import Held

_NOTICEABLE_SECONDS: Final = 0.005
"""What we know of the database's clock varies by less from answer to answer."""


class Release:
    """A heap by instant and one timer for its head."""

    def __init__(self, time: DatabaseClock, start: Callable[[list[Held]], None]) -> None:
        self._time = time
        self._start = start
        self._heap: list[tuple[float, int, Held]] = []
        self._order = count()
        self._timer: asyncio.TimerHandle | None = None

    def deliver(self, firings: list[Held]) -> None:
        """Starts what is due, keeps the rest."""
        reached = self._time.now()
        due = [held for held in firings if held.claimed[5] <= reached]
        if len(due) < len(firings):
            for held in firings:
                if held.claimed[5] > reached:
                    held.release_at = self._time.until(held.claimed[5])
                    heappush(self._heap, (held.release_at, next(self._order), held))
            self._arm()
        if due:
            self._start(due)

    def take_back(self) -> list[Held]:
        """All that is still held: it was not started, and will not be."""
        held = [entry[2] for entry in self._heap]
        self._heap.clear()
        self._arm()
        return held

    def release(self) -> None:
        """Lets go what is due by now. If the database's clock was set back since it was claimed, it waits on."""
        now, due = clock.monotonic(), []
        while self._heap and self._heap[0][0] <= now:
            held = heappop(self._heap)[2]
            again_at = self._time.until(held.claimed[5])
            if again_at <= now + _NOTICEABLE_SECONDS:
                due.append(held)
            else:
                held.release_at = again_at
                heappush(self._heap, (again_at, next(self._order), held))
        self._arm()
        if due:
            self._start(due)

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._heap:
            wait = max(0.0, self._heap[0][0] - clock.monotonic())
            self._timer = asyncio.get_running_loop().call_later(wait, self.release)
