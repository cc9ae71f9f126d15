"""Declares the schedules of apps, and tells what became of it."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg

from detent.app import Detent
from detent.commands.declare import Declared, declare_all
from detent.commands.schedules import Actor, Commands
from detent.domain.errors import DetentError
from detent.observe.events import DeclarationRefused, Events, SchedulesDeclared
from detent.settings import Settings
from detent.store.migrate import refuse_old_schema
from detent.store.pool import connect


async def declare(settings: Settings, events: Events, apps: Sequence[Detent]) -> list[Declared]:
    """All of each app; what is refused is told."""
    if not apps:
        return []
    connection = await connect(settings)
    try:
        await refuse_old_schema(connection)
        commands = Commands(connection=connection, settings=settings)
        return [await _declare(commands, events, app) for app in apps]
    finally:
        await connection.close()


async def _declare(commands: Commands, events: Events, app: Detent) -> Declared:
    try:
        done = await declare_all(commands, app.schedules, Actor(by=f"app {app.name}"), origin=app.name)
    except asyncpg.InsufficientPrivilegeError as error:
        advice = "run `detent declare` as a user who may, and workers with --no-declare"
        done = Declared(refused={"*": DetentError(f"this user may not write schedules ({error}): {advice}")})
    for name, problem in done.refused.items():
        events.emit(DeclarationRefused(app=app.name, schedule=name, error=problem.message))
    events.emit(
        SchedulesDeclared(
            app=app.name, changed=len(done.changed), unchanged=len(done.unchanged), left=len(done.left)
        )
    )
    return done
