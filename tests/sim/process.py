"""A process of the simulation: an event loop of its own, with a clock of its own, that only moves when it is told to.

It knows no sockets and never waits. What its tasks want from outside are calls to the database (wire.py), which the
director answers one by one, and timers, which the director fires. To stop a process is to leave it alone; to kill it is
to forget it.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

MANY = 100_000
"""Callbacks without any call or timer between them: nobody will come to an end there."""


class Process(asyncio.BaseEventLoop):
    """`elapsed` tells the true time that has passed; `offset` is what this process's clock shows beside it."""

    def __init__(
        self, name: str, elapsed: Callable[[], float], offset: float, connect: Callable[[Process], Any],
        report: Callable[[str], None],
    ) -> None:  # fmt: skip
        super().__init__()
        self.name = name
        self.offset = offset
        self.dead = False
        self.stopped = False
        """It does nothing, as after SIGSTOP."""
        self.cut = False
        """Nothing of it reaches the database, and nothing comes back."""
        self._at_least = 0.0
        """When the last timer fired: floating-point sums may fall short of it."""
        self._elapsed = elapsed
        self._connect = connect
        self._report = report
        self.set_exception_handler(self._failed)

    def time(self) -> float:
        return max(self._elapsed() + self.offset, self._at_least)

    def connect(self) -> Any:
        return self._connect(self)

    def run_in_executor(self, _: Any, function: Callable[..., Any], *arguments: Any) -> Any:
        """Threads are for the heartbeat alone, which is a task here."""
        done = self.create_future()
        done.set_result(function(*arguments))
        return done

    @contextmanager
    def inside(self) -> Iterator[None]:
        asyncio._set_running_loop(self)
        try:
            yield
        finally:
            asyncio._set_running_loop(None)

    def begin(self, main: Any) -> asyncio.Task[Any]:
        with self.inside():
            return self.create_task(main)

    def run_ready(self) -> None:
        """Until everything in it waits."""
        with self.inside():
            for _ in range(MANY):
                if not self._ready:
                    return
                handle = self._ready.popleft()
                if not handle._cancelled:
                    handle._run()
        raise AssertionError(f"{self.name} doesn't come to an end")

    def next_timer(self) -> float | None:
        """In true time."""
        while self._scheduled and self._scheduled[0]._cancelled:
            self._timer_cancelled_count -= 1
            heapq.heappop(self._scheduled)._scheduled = False
        return self._scheduled[0]._when - self.offset if self._scheduled else None

    @property
    def has_work(self) -> bool:
        return bool(self._ready)

    def fire_timers(self) -> bool:
        fired = False
        while (due := self.next_timer()) is not None and due <= self._elapsed() + 1e-9:
            handle = heapq.heappop(self._scheduled)
            handle._scheduled = False
            self._at_least = handle._when
            self._ready.append(handle)
            fired = True
        return fired

    def kill(self) -> None:
        """Its memory is gone. Its coroutines are closed one by one, for Python's sake: all of them see cancellation."""
        self.dead = True
        for _ in range(100):
            left = [task for task in asyncio.all_tasks(self) if not task.done()]
            if not left:
                break
            for task in left:
                task.cancel()
            self.run_ready()
        else:
            raise AssertionError(f"{self.name} can't be killed")
        self.run_ready()
        self.close()

    def _failed(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not self.dead:
            self._report(f"{self.name}: {context.get('message')}: {context.get('exception')!r}")
