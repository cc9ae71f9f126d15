"""Ends waiting firings whose start deadline has passed, or whose hold outlasted their instant.

Pools without a worker need it, too, so planners do it."""

from __future__ import annotations

from typing import Final

from detent.observe.events import Events, WaitingEnded
from detent.store import claiming
from detent.store.pool import Pool

_MOST: Final = 1_000


class Deadlines:
    def __init__(self, database: Pool, events: Events) -> None:
        self._database = database
        self._events = events

    async def tick(self) -> bool:
        async with self._database.acquire() as connection:
            ended = await claiming.end_waiting(connection, _MOST)
        for one in ended:
            self._events.emit(
                WaitingEnded(
                    schedule_id=one.schedule_id, scheduled_for=one.scheduled_for, outcome=one.outcome, code=one.code
                )
            )  # fmt: skip
        return len(ended) >= _MOST
