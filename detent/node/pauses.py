"""Resumes schedules whose pause has an end, when it has come."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from detent.commands.schedules import Actor, Commands, Conflict, NotFound
from detent.settings import Settings
from detent.store import schedules
from detent.store.pool import Pool

_MOST: Final = 100


class Pauses:
    def __init__(self, database: Pool, settings: Settings) -> None:
        self._database = database
        self._settings = settings

    async def tick(self) -> bool:
        async with self._database.acquire() as connection:
            over = await schedules.overdue_pauses(connection, _MOST)
            for tenant, name in over:
                actor = Actor(by="detent", reason="the pause is over", tenant=tenant)
                with suppress(Conflict, NotFound):  # somebody was faster
                    await Commands(connection=connection, settings=self._settings).resume(name, actor)
        return len(over) >= _MOST
