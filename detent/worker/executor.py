"""Runs firings: a fixed number of places, each a task that takes one firing after the other.

A place is an asyncio task of its own, so a firing may use time-outs and be cancelled like any other; that it is used
again for the next firing saves making a task for each. A place in which a firing left context variables behind, or was
cancelled, by us or by itself, is not used again.

1. What is ready is taken from the front of one queue. If there is more, another place is woken before the firing
   begins: it may not come back for an hour.
2. Before it begins, the lease is looked at once more: what was taken from us must not start.
3. Whatever it raises ends here, as an outcome.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from detent import clock
from detent.domain.settle import Outcome
from detent.node.lease import Lease
from detent.targets.context import Context
from detent.targets.ending import Deferred, Ended
from detent.targets.steering import RAISED, TOLD, Steering, told_by
from detent.worker.hand import Held
from detent.worker.outcome import STOPPING

_TURN_SECONDS: Final = 0.002
"""How long firings that never wait may keep the loop from everything else."""
_WAKE_AHEAD: Final = 2
_MANY: Final = 32
"""Firings that one place ran in a row: then all that was ready has gone by at speed, and more should be fetched."""

CANCEL_OUTCOMES: Final = {"timeout": Outcome.TIMED_OUT, STOPPING: Outcome.LOST}
"""Any other reason to cancel is a wish that was granted."""


class Sink(Protocol):
    """Where outcomes go: the finaliser, or a test that counts."""

    def succeeded(self, held: Held, finished: float, result: object) -> None: ...
    def ended(
        self, held: Held, finished: float, outcome: Outcome, error: BaseException | Ended | str
    ) -> None: ...
    def deferred(self, held: Held, finished: float, deferred: Deferred) -> None: ...
    def voided(self, held: Held) -> None: ...
    def too_late(self, held: Held, error: BaseException) -> None: ...
    def context(self, held: Held) -> Context: ...


class Executor:
    """Places, what waits for one, and what runs in them."""

    def __init__(self, places: int, sink: Sink, lease: Lease) -> None:
        self._places = places
        self._sink = sink
        self._lease = lease
        self._ready: deque[Held] = deque()
        self._idle: deque[asyncio.Future[None]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waking = 0
        self.running: set[Held] = set()
        self.on_drained: Callable[[], None] = _nothing
        """Many were ready, and now none is."""

    def submit(self, firings: Iterable[Held]) -> None:
        self._ready.extend(firings)
        self._wake()

    def take_back(self, late_since: float | None = None) -> list[Held]:
        """What waits for a place: all of it, or what should have begun before then."""
        if late_since is None:
            taken = list(self._ready)
            self._ready.clear()
            return taken
        taken = [held for held in self._ready if held.release_at < late_since]
        if taken:
            gone = set(taken)
            self._ready = deque(held for held in self._ready if held not in gone)
        return taken

    def cancel(self, held: Held, reason: str) -> None:
        """Tells a running firing to end. Told again, it is told again."""
        held.cancelled_at = clock.monotonic()
        if held.cancel is None:
            held.cancel, held.first_cancelled_at = reason, held.cancelled_at
        if held in self.running and held.task is not None:
            held.task.cancel()

    def abandon(self, held: Held) -> None:
        """It doesn't end: its place is given up, and it is concluded without it."""
        held.settled = True
        self.running.discard(held)
        if held.task is not None:
            self._tasks.discard(held.task)
        self._wake()

    def _wake(self) -> None:
        while self._ready and self._waking < _WAKE_AHEAD:
            if self._idle:
                self._waking += 1
                self._idle.popleft().set_result(None)
            elif len(self._tasks) < self._places:
                self._waking += 1
                context = contextvars.copy_context()
                task = asyncio.get_running_loop().create_task(
                    self._place(context, len(context)), context=context
                )
                self._tasks.add(task)
                task.add_done_callback(self._left)
            else:
                return

    def _left(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and not isinstance(task.exception(), GeneratorExit | None):
            raise task.exception()  # type: ignore[misc]
        self._wake()

    async def _place(self, context: contextvars.Context, clean: int) -> None:
        task = asyncio.current_task()
        assert task is not None
        while True:
            self._waking -= 1
            ran, turn_ends = 0, clock.monotonic() + _TURN_SECONDS
            while self._ready:
                held = self._ready.popleft()
                if self._ready and self._waking < _WAKE_AHEAD:
                    self._wake()
                held.task = task
                finished = await self._run(held)
                ran += 1
                if held.cancel is not None or len(context) != clean or held.settled or task.cancelling():
                    return
                if finished > turn_ends:
                    await clock.sleep(0)
                    turn_ends = clock.monotonic() + _TURN_SECONDS
            if ran >= _MANY:
                self.on_drained()
            idle = asyncio.get_running_loop().create_future()
            self._idle.append(idle)
            await idle

    async def _run(self, held: Held) -> float:
        now = held.started = clock.monotonic()
        if now >= self._lease.deadline or held.node != self._lease.id:
            self._sink.voided(held)
            return now
        if held.cancel is not None:
            self._sink.ended(held, now, Outcome.CANCELLED, "cancelled before it began")
            return now
        call = held.call
        self.running.add(held)
        timer = None
        if held.timeout_seconds is not None:
            timer = asyncio.get_running_loop().call_later(held.timeout_seconds, self.cancel, held, "timeout")
        try:
            result = await call.begin(self._sink.context(held) if call.wants_context else None)
        except BaseException as error:
            finished = clock.monotonic()
            if held.settled:
                self._sink.too_late(held, error)
            else:
                self._raised(held, finished, error)
            if isinstance(error, GeneratorExit):  # perhaps the place itself is being closed
                raise
            return finished
        finally:
            self.running.discard(held)
            if timer is not None:
                timer.cancel()
        finished = clock.monotonic()
        if not held.settled:
            if result is not None and isinstance(result, TOLD):
                self._told(held, finished, result)
            else:
                self._sink.succeeded(held, finished, result)
        return finished

    def _raised(self, held: Held, finished: float, error: BaseException) -> None:
        if isinstance(error, RAISED):
            self._told(held, finished, error)
        else:
            self._sink.ended(held, finished, _outcome_of(held, error), error)

    def _told(self, held: Held, finished: float, told: Ended | Deferred | Steering) -> None:
        if isinstance(told, RAISED):
            told = told_by(told)
        if isinstance(told, Deferred):
            self._sink.deferred(held, finished, told)
        else:
            self._sink.ended(held, finished, told.outcome, told)


def _outcome_of(held: Held, error: BaseException) -> Outcome:
    """A firing that ends with its cancellation ended by it; one that fails on the way failed."""
    if isinstance(error, asyncio.CancelledError) and held.cancel is not None:
        return CANCEL_OUTCOMES.get(held.cancel, Outcome.CANCELLED)
    if held.cancel == "timeout":
        return Outcome.TIMED_OUT
    return Outcome.FAILED


def _nothing() -> None:
    """Nobody wants to know."""
