"""What becomes of due firings whose schedule has no free seat: its overlap policy decides, in overlap_v1."""

from __future__ import annotations

from typing import Final

from detent import clock
from detent.observe.events import Events, WaitingEnded
from detent.store import claiming
from detent.store.pool import Pool

_MOST: Final = 500
_BACKSTOP_SECONDS: Final = 5.0


class Overlaps:
    """Skips, collapses, parks and cancels; every few seconds, wakes what was forgotten."""

    def __init__(self, database: Pool, events: Events) -> None:
        self._database = database
        self._events = events
        self._backstop_at = 0.0

    async def tick(self) -> bool:
        async with self._database.acquire() as connection:
            ended = await claiming.overlap(connection, _MOST)
            if clock.monotonic() >= self._backstop_at:
                await claiming.wake_forgotten(connection, _MOST)
                self._backstop_at = clock.monotonic() + _BACKSTOP_SECONDS
        for schedule_id, scheduled_for, what in ended:
            if what != "queued":
                self._events.emit(
                    WaitingEnded(
                        schedule_id=schedule_id, scheduled_for=scheduled_for, outcome=what, code="overlap"
                    )
                )
        return len(ended) >= _MOST
