"""Ends pauses that have an end, when it has come."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from detent.commands.schedules import Actor, Commands, Conflict, NotFound
from detent.observe.events import Events, ScheduleParked
from detent.settings import Settings
from detent.store import schedules
from detent.store.pool import Pool

_MOST: Final = 100


class Pauses:
    """What waits from the end of a pause on was never held, so nothing is late by the time between two ticks."""

    def __init__(self, database: Pool, settings: Settings, events: Events) -> None:
        self._database = database
        self._settings = settings
        self._events = events

    async def tick(self) -> bool:
        async with self._database.acquire() as connection:
            commands = Commands(connection=connection, settings=self._settings)
            over = await schedules.overdue_pauses(connection, _MOST)
            for schedule_id, tenant, name in over:
                actor = Actor(by="detent", reason="the pause is over", tenant=tenant)
                with suppress(Conflict, NotFound):  # somebody was faster
                    error = await commands.end_pause(name, actor)
                    if error is not None:
                        self._events.emit(ScheduleParked(schedule_id=schedule_id, error=error))
        return len(over) >= _MOST
