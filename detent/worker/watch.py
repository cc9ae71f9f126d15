"""Watches what runs: wishes to cancel, firings that don't end, runs that take too long, firings that wait in vain."""

from __future__ import annotations

from collections import OrderedDict
from datetime import timedelta
from typing import Final

from detent import clock
from detent.clock import DatabaseClock
from detent.domain.settle import Outcome
from detent.observe.events import Events, OverLong
from detent.store import concluding
from detent.store.pool import Connection, Pool
from detent.worker.executor import CANCEL_OUTCOMES, Executor
from detent.worker.finaliser import Finaliser
from detent.worker.hand import Hand, Held

_MOST: Final = 1_000
_TELL_AGAIN_SECONDS: Final = 5.0
_GIVE_UP_SECONDS: Final = 30.0
"""A firing that swallows its cancellation is concluded without it: its place is lost, its seat is not."""
_HOARDED_SECONDS: Final = 1.0
"""A firing that has waited so long for a place goes back: another worker may have one."""
_LOOK_AT_DURATION_SECONDS: Final = 5.0
_OVER: Final = 2.0
_REMEMBERED: Final = 1_000
_REMEMBERED_SECONDS: Final = 60.0
"""What is usual changes; a schedule that had too few runs has more now."""
_HISTORY: Final = timedelta(days=7)


class Watch:
    """One look at everything in hand that has begun, or should have."""

    def __init__(
        self, database: Pool, hand: Hand, executor: Executor, finaliser: Finaliser, time: DatabaseClock, events: Events
    ) -> None:  # fmt: skip
        self._database = database
        self._hand = hand
        self._executor = executor
        self._finaliser = finaliser
        self._time = time
        self._events = events
        self._told: set[Held] = set()
        self._usual: OrderedDict[int, tuple[float | None, float]] = OrderedDict()

    async def tick(self) -> bool:
        self._give_back_hoarded()
        async with self._database.acquire() as connection:
            await self._grant_cancels(connection)
            await self._tell_over_long(connection)
        self._insist()
        return False

    async def _grant_cancels(self, connection: Connection) -> None:
        nodes = {held.node for held in self._hand}
        for node in nodes:
            for wish in await concluding.cancels(connection, node, _MOST):
                held = self._hand.find(wish.schedule_id, wish.seat, wish.volley)
                if held is not None and held.cancel is None:
                    code, _, held.wish = wish.reason.partition(": ")
                    self._executor.cancel(held, code)

    def _insist(self) -> None:
        now = clock.monotonic()
        for held in list(self._executor.running):
            if held.cancel is None or now - held.cancelled_at < _TELL_AGAIN_SECONDS:
                continue
            if now - held.first_cancelled_at >= _GIVE_UP_SECONDS:
                concluded = held.settled  # by its own transaction
                self._executor.abandon(held)
                if concluded:
                    continue
                ended_as = CANCEL_OUTCOMES.get(held.cancel, Outcome.CANCELLED)
                self._finaliser.ended(
                    held, now, ended_as, "it did not end when it was cancelled, and was given up"
                )
            else:
                self._executor.cancel(held, held.cancel)

    def _give_back_hoarded(self) -> None:
        """The finaliser hands them back, and keeps them until that has been done."""
        late = self._executor.take_back(clock.monotonic() - _HOARDED_SECONDS)
        for held in late:
            self._finaliser.voided(held)
        if late:
            self._hand.learn_waiting(_HOARDED_SECONDS)

    async def _tell_over_long(self, connection: Connection) -> None:
        now = clock.monotonic()
        self._told &= self._executor.running
        for held in self._executor.running - self._told:
            took = now - held.started
            if (
                held.call.work is None or held.call.work.expected_duration is None
            ) and took < _LOOK_AT_DURATION_SECONDS:
                continue
            expected = await self._expected(connection, held)
            if expected is not None and took > _OVER * expected:
                self._told.add(held)
                self._events.emit(
                    OverLong(
                        schedule_id=held.claimed[0], scheduled_for=held.claimed[1],
                        expected_seconds=expected, seconds=took,
                    )
                )  # fmt: skip

    async def _expected(self, connection: Connection, held: Held) -> float | None:
        """What its schedule says, else what its last runs took."""
        if held.call.work is not None and held.call.work.expected_duration is not None:
            return held.call.work.expected_duration.total_seconds()
        schedule_id, now = held.claimed[0], clock.monotonic()
        usual, until = self._usual.get(schedule_id, (None, 0.0))
        if now >= until:
            since = self._time.now() - _HISTORY
            usual = await concluding.usual_duration(connection, schedule_id, since)
            self._usual.pop(schedule_id, None)
            self._usual[schedule_id] = usual, now + _REMEMBERED_SECONDS
            if len(self._usual) > _REMEMBERED:
                self._usual.popitem(last=False)
        return usual
