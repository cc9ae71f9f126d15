"""People who change schedules in a race, each in a session of his own, by the real commands."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import asyncpg

from detent.commands.schedules import Actor, Commands
from detent.settings import Settings

SETTINGS = Settings(database_url="unused: sessions are given")
ADA = Actor(by="ada", reason="a race")


def spec(name: str = "s", *, every: str = "10s", **changes: object) -> dict[str, object]:
    return {"name": name, "trigger": {"every": every}, "target": {"task": "work"}, **changes}


class Person:
    """`async with person.busy():` what is asked inside stays uncommitted until the end of the block."""

    def __init__(self, session: asyncpg.Connection) -> None:
        self.session = session
        self.commands = Commands(connection=session, settings=SETTINGS)

    async def create(self, given: Mapping[str, object] | None = None) -> int:
        return await self.commands.create(given or spec(), ADA)

    async def edit(self, given: Mapping[str, object]) -> int:
        return await self.commands.edit(str(given["name"]), given, ADA)

    async def pause(self, name: str = "s", *, until: datetime | None = None) -> None:
        await self.commands.pause(name, ADA, until=until)

    async def resume(self, name: str = "s") -> None:
        await self.commands.resume(name, ADA)

    async def delete(self, name: str = "s") -> None:
        await self.commands.delete(name, ADA)

    async def trigger(self, name: str = "s") -> datetime:
        return await self.commands.trigger(name, ADA)

    async def declare(self, given: Mapping[str, Any], origin: str = "app") -> bool:
        return await self.commands.declare(given, ADA, origin=origin)

    @asynccontextmanager
    async def busy(self):
        async with self.session.transaction():
            yield self
