"""Writes down what happened: outcomes become facts, many in one commit.

A flush takes all that has gathered while the one before was under way, so it is at once when there is little to do and
large when there is much. An outcome leaves memory only when it is on record, or known to be stale:

1. The batch is written. The answer says how many firings were still ours.
2. If some were not, we look which attempts are on record under our volley: those are a commit of our own whose answer
   was lost. The others were taken from us; what they brought is recorded as stale and changes nothing.
3. A call that fails is made again with the same batch; step 2 makes that harmless.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from detent.clock import DatabaseClock
from detent.domain.settle import Outcome, refuse_deferral
from detent.observe.events import AttemptEnded, Events, FiringDeferred, RaisedTooLate, ResultsStale
from detent.store import claiming, concluding, schedules
from detent.store.concluding import Brought, Fact
from detent.store.pool import Connection, Pool
from detent.targets.ending import Deferred, Ended
from detent.worker import outcome
from detent.worker.contexts import Contexts
from detent.worker.hand import Hand, Held

_MOST: Final = 2_000
"""Firings of one commit: larger ones don't cost less each."""
_LIMITED_SEATS: Final = 10_000
"""Seats above it are instants, of schedules without a limit: nobody waits for those."""


class Success(NamedTuple):
    """Kept as a plain tuple: there may be a hundred thousand of them a second."""

    held: Held
    finished: float
    result: object


class Ending(NamedTuple):
    held: Held
    finished: float
    outcome: Outcome
    error: BaseException | Ended | str


class Finaliser:
    """Gathers outcomes and flushes them. It is the executor's sink."""

    def __init__(
        self, pool: Pool, hand: Hand, time: DatabaseClock, events: Events, contexts: Contexts
    ) -> None:
        self._pool = pool
        self._hand = hand
        self._time = time
        self._events = events
        self.context: Final = contexts.of
        self._done: list[Success] = []
        self._endings: list[Ending] = []
        self._voided: list[Held] = []
        self._deferred: list[tuple[Held, Deferred]] = []
        self.on_gathered: Callable[[], None] = _nothing
        """Something is to be written."""
        self.on_room: Callable[[], None] = _nothing
        """Something was written, and the hand has room."""

    @property
    def pending(self) -> int:
        return len(self._done) + len(self._endings) + len(self._voided) + len(self._deferred)

    def succeeded(self, held: Held, finished: float, result: object) -> None:
        if not self._done:
            self.on_gathered()
        self._done.append((held, finished, result))  # type: ignore[arg-type]

    def ended(
        self, held: Held, finished: float, ended_as: Outcome, error: BaseException | Ended | str
    ) -> None:
        self._endings.append(Ending(held, finished, ended_as, error))
        self.on_gathered()

    def voided(self, held: Held) -> None:
        """It won't begin here: the lease has run out, or there is no place. It goes back, if it isn't taken from us."""
        self._voided.append(held)
        self.on_gathered()

    def deferred(self, held: Held, finished: float, deferred: Deferred) -> None:
        """It can't begin now, or doesn't want to."""
        until = self._time.now() + deferred.delay
        reason = refuse_deferral(held.claimed[3], held.claimed[1], until)
        if reason is not None:
            error = f"it can't be deferred once more, for {reason}: {deferred.reason}"
            self.ended(held, finished, Outcome.FAILED, Ended(code="deferred", error=error))
            return
        self._deferred.append((held, deferred))
        self.on_gathered()

    def concluded(self, held: Held, finished: float) -> None:
        """On record already: by its own transaction."""
        began, ended = held.started + held.offset, finished + held.offset
        if self._events.successes:
            self._tell(held, "succeeded", "conclude", None, began, ended)
        self._hand.learn(ended - began, 1)
        self._hand.let_go([held], concluded=True)
        self.on_room()

    def too_late(self, held: Held, error: BaseException) -> None:
        """It raised after its last word: nothing comes of it, but somebody may want to know."""
        if not isinstance(error, asyncio.CancelledError):
            message, _ = outcome.said_error(error)
            self._events.emit(
                RaisedTooLate(schedule_id=held.claimed[0], scheduled_for=held.claimed[1], error=message or "")
            )

    async def tick(self) -> bool:
        """One flush. True if there is more."""
        if self._voided:
            await self._give_back()
        if self._deferred:
            await self._defer()
        done, endings = self._done[:_MOST], self._endings[:_MOST]
        if not done and not endings:
            return False
        async with self._pool.acquire() as connection:
            if done:
                await self._write_successes(connection, done)
                del self._done[: len(done)]
            if endings:
                await self._write_endings(connection, endings)
                del self._endings[: len(endings)]
        self.on_room()
        return bool(self._done or self._endings)

    async def _give_back(self) -> None:
        voided = list(self._voided)
        async with self._pool.acquire() as connection:
            await claiming.hand_back(connection, [(h.claimed[0], h.claimed[2], h.claimed[4]) for h in voided])
        del self._voided[: len(voided)]
        self._hand.let_go(voided, concluded=False)

    async def _defer(self) -> None:
        deferred = list(self._deferred)
        due = [self._time.now() + how.delay for _, how in deferred]
        async with self._pool.acquire() as connection:
            await claiming.defer(
                connection,
                [
                    (h.claimed[0], h.claimed[2], h.claimed[4], at)
                    for (h, _), at in zip(deferred, due, strict=True)
                ],
            )
        del self._deferred[: len(deferred)]
        for (held, how), at in zip(deferred, due, strict=True):
            self._events.emit(
                FiringDeferred(
                    schedule_id=held.claimed[0], scheduled_for=held.claimed[1], until=at, reason=how.reason
                )
            )  # fmt: skip
        self._hand.let_go([held for held, _ in deferred], concluded=False)
        self.on_room()

    async def _settle(self, connection: Connection, endings: list[Ending]) -> list[Fact]:
        """What becomes of firings that did not succeed: the policy of their schedule decides."""
        again = [ending.held.claimed for ending in endings if ending.held.claimed[3] > 1]
        tried = (
            await concluding.tried(connection, [c[0] for c in again], [c[1] for c in again]) if again else {}
        )
        settled = []
        for held, finished, ended_as, error in endings:
            fact = outcome.ending(
                held, finished, ended_as, error,
                before=tried.get((held.claimed[0], held.claimed[1])), as_of=self._time.now(),
            )  # fmt: skip
            settled.append(fact)
        return settled

    async def _write_successes(self, connection: Connection, done: list[Success]) -> None:
        held = [success[0] for success in done]
        facts = outcome.successes(done)
        if await concluding.succeed(connection, facts, _woken(held)) != len(held):
            await self._look_into_missing(connection, held, ["succeeded"] * len(held), [None] * len(held))
        if self._events.successes:
            for one, began, finished in zip(held, facts.started_at, facts.finished_at, strict=True):
                self._tell(one, "succeeded", "conclude", None, began, finished)
        self._hand.learn(sum(facts.finished_at) - sum(facts.started_at), len(held))
        self._hand.let_go(held, concluded=True)

    async def _write_endings(self, connection: Connection, endings: list[Ending]) -> None:
        held = [ending.held for ending in endings]
        facts = await self._settle(connection, endings)
        if await concluding.conclude(connection, held[0].node, facts, _woken(held)) != len(held):
            await self._look_into_missing(
                connection, held, [fact.outcome for fact in facts], [fact.error for fact in facts]
            )
        wishes = [
            (end.held.claimed[0], end.held.claimed[6], end.error.pause)
            for end in endings
            if isinstance(end.error, Ended) and end.error.pause is not None
        ]
        if wishes:
            await schedules.wish_pauses(connection, wishes)
        for one, fact in zip(held, facts, strict=True):
            self._tell(one, fact.outcome, fact.verdict, fact.error, fact.started_at, fact.finished_at)
        self._hand.learn(sum(fact.finished_at - fact.started_at for fact in facts), len(held))
        self._hand.let_go(held, concluded=True)

    async def _look_into_missing(
        self, connection: Connection, held: list[Held], outcomes: list[str], errors: Sequence[str | None]
    ) -> None:
        brought = [
            Brought(one.claimed[0], one.claimed[1], one.claimed[4], ended_as)
            for one, ended_as in zip(held, outcomes, strict=True)
        ]
        own = await concluding.own_facts(connection, brought)
        stale = [
            (result.schedule_id, result.scheduled_for, one.claimed[3], result.volley, result.outcome, error)
            for one, result, error in zip(held, brought, errors, strict=True)
            if result not in own
        ]
        if stale:
            await concluding.record_stale(connection, held[0].node, list(zip(*stale, strict=True)))
            self._events.emit(ResultsStale(node=held[0].node, count=len(stale)))

    def _tell(
        self, held: Held, ended_as: str, then: str, error: str | None, began: float, finished: float
    ) -> None:
        claimed = held.claimed
        self._events.emit(
            AttemptEnded(
                schedule_id=claimed[0], scheduled_for=claimed[1], number=claimed[3], outcome=ended_as, then=then,
                error=error, lag_seconds=began - claimed[5].timestamp(), seconds=finished - began,
            )
        )  # fmt: skip


def _woken(held: list[Held]) -> list[int]:
    """Schedules whose other firings may wait for one of these seats."""
    return list({one.claimed[0] for one in held if one.call.wakes and one.claimed[2] < _LIMITED_SEATS})


def _nothing() -> None:
    """Nobody wants to know."""
