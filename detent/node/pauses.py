"""Ends pauses that have an end, when it has come; begins those that targets ask for."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from detent.commands.schedules import Actor, Commands, Conflict, NotFound
from detent.observe.events import Events, ScheduleParked, SchedulePaused
from detent.settings import Settings
from detent.store import schedules
from detent.store.pool import Connection, Pool
from detent.store.schedules import PauseWish

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
            wishes = await schedules.pause_wishes(connection, _MOST)
            for wish in wishes:
                await self._grant(connection, commands, wish)
        return max(len(over), len(wishes)) >= _MOST

    async def _grant(self, connection: Connection, commands: Commands, wish: PauseWish) -> None:
        """Of a revision that is gone, the target that answered is gone, too."""
        actor = Actor(by="detent", reason=wish.reason, tenant=wish.tenant)
        with suppress(Conflict, NotFound):
            await commands.pause(wish.name, actor, revision=wish.revision)
            self._events.emit(SchedulePaused(schedule_id=wish.schedule_id, reason=wish.reason))
        await schedules.forget_pause_wish(connection, wish)
