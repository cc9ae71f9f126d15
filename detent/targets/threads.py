"""Threads for tasks that are no coroutine functions.

* As many as firings may run at once, made when they are needed, ended when they are not.
* A thread can't be made to end. When a firing is cancelled its function is told so by the context, and the firing goes
  on until the function returns: its seat is taken as long as its code runs. The worker gives one up that doesn't end;
  its thread then goes on beside those that are allowed, up to as many again.
* They are daemons: a worker that has to leave leaves them behind.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from detent.targets.executor import run_to_its_end

_IDLE_SECONDS: Final = 30.0
_STRAYS: Final = 2
"""So many times the firings that may run at once, of which all but once are given up."""


class _Job:
    __slots__ = ("begun", "context", "ended", "function", "result")

    def __init__(self, function: Callable[[], Any], ended: asyncio.Future[None]) -> None:
        self.function = function
        self.context = contextvars.copy_context()
        self.ended = ended
        self.begun = False
        self.result: tuple[Any, BaseException | None] | None = None


class Threads:
    """Belongs to the loop in which `run` is called."""

    def __init__(self, places: int) -> None:
        self._most = _STRAYS * places
        self._waiting: deque[_Job] = deque()
        self._work = threading.Condition()
        self._idle = self._alive = 0
        self._done: deque[_Job] = deque()
        self._told = False
        self._closed = False

    async def run(self, function: Callable[[], Any]) -> Any:
        """Its result, or what it raises. Cancelled before it began, it doesn't begin."""
        loop = asyncio.get_running_loop()
        job = _Job(function, loop.create_future())
        self._submit(job, loop)
        while True:
            try:
                await job.ended
            except asyncio.CancelledError:
                if self._withdrawn(job):
                    raise
                if job.result is None:
                    job.ended = loop.create_future()
                    continue
            assert job.result is not None
            result, error = job.result
            if error is not None:
                raise error
            return result

    def close(self) -> None:
        """Idle threads end; those that run are left to themselves."""
        with self._work:
            self._closed = True
            self._work.notify_all()

    def _submit(self, job: _Job, loop: asyncio.AbstractEventLoop) -> None:
        with self._work:
            self._waiting.append(job)
            if self._idle >= len(self._waiting) or self._alive >= self._most:
                self._work.notify()
                return
            self._alive += 1
        threading.Thread(target=self._serve, args=(loop,), name="detent-task", daemon=True).start()

    def _withdrawn(self, job: _Job) -> bool:
        with self._work:
            if job.begun:
                return False
            self._waiting.remove(job)
            return True

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        job = self._next(loop, None)
        while job is not None:
            job.result = job.context.run(run_to_its_end, job.function)
            job = self._next(loop, job)

    def _next(self, loop: asyncio.AbstractEventLoop, done: _Job | None) -> _Job | None:
        """Whoever hears that a job is done finds its thread idle."""
        with self._work:
            self._idle += 1
            try:
                if done is not None:
                    self._tell(loop, done)
                while not self._waiting:
                    in_time = self._work.wait(0 if self._closed else _IDLE_SECONDS)
                    if not in_time and not self._waiting:
                        self._alive -= 1
                        return None
                job = self._waiting.popleft()
                job.begun = True
                return job
            finally:
                self._idle -= 1

    def _tell(self, loop: asyncio.AbstractEventLoop, done: _Job) -> None:
        self._done.append(done)
        if not self._told:
            self._told = True
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        """In the loop. What is done after the flag is down is told anew."""
        self._told = False
        while self._done:
            job = self._done.popleft()
            if not job.ended.done():
                job.ended.set_result(None)
