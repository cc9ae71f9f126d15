"""Registers many schedules in one transaction: the same checks and the same first window as one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from detent.commands.schedules import JUST_AFTER, Actor, NotFound
from detent.commands.targets import make_ready
from detent.commands.window import due_at
from detent.domain.errors import SpecError
from detent.domain.plan import Plan
from detent.domain.schedule import Schedule, register
from detent.domain.window import window
from detent.settings import Settings
from detent.store import planning, schedules
from detent.store.pool import Connection


class Refused(NamedTuple):
    """What was wrong with one of them, by its place in the list."""

    place: int
    error: SpecError


class _Drawn(NamedTuple):
    place: int
    schedule: Schedule
    window: Plan


async def create_many(
    connection: Connection, settings: Settings, specs: Sequence[Mapping[str, object]], actor: Actor,
    *, origin: str | None = None,
) -> list[Refused]:  # fmt: skip
    """Good ones are kept, whatever the others are like. What is returned are the others."""
    async with connection.transaction():
        tenant = await schedules.tenant(connection, actor.tenant)
        if tenant is None:
            raise NotFound(f'there is no tenant "{actor.tenant}"')
        as_of = await planning.now(connection)
        drawn, refused = _draw(specs, as_of, tenant.min_interval, settings, actor)
        given = {one.place: one.schedule for one in drawn.values()}
        unready = await make_ready(connection, settings, tenant.id, given)
        refused += [Refused(place, error) for place, error in unready.items()]
        drawn = {name: one for name, one in drawn.items() if one.place not in unready}
        ids = await schedules.insert_schedules(
            connection, tenant.id, [(one.schedule, one.window) for one in drawn.values()],
            origin=origin, by=actor.by, reason=actor.reason, as_of=as_of, first=as_of + JUST_AFTER,
        )  # fmt: skip
        taken = [one for name, one in drawn.items() if name not in ids]
        refused += [Refused(one.place, _taken(one.schedule.name)) for one in taken]
        made = [(ids[n], one) for n, one in drawn.items() if n in ids and not one.schedule.paused]
        omissions = [
            (schedule_id, start, end, reason.value, count)
            for schedule_id, one in made
            for start, end, reason, count in one.window.omissions
        ]
        if omissions:
            await schedules.omit_many(connection, omissions)
        firings = [
            (schedule_id, slot, due_at(one.schedule.cadence, schedule_id, slot, kind, as_of), kind.value)
            for schedule_id, one in made
            for slot, kind in one.window.promises
        ]
        if firings:
            slots = [firing[1] for firing in firings]
            await planning.ensure_partitions(connection, min(slots), max(slots))
            await schedules.promise_many(connection, firings)
            await schedules.notify(connection, "")
    return sorted(refused)


def _draw(
    specs: Sequence[Mapping[str, object]],
    as_of: datetime,
    min_interval: timedelta,
    settings: Settings,
    actor: Actor,
) -> tuple[dict[str, _Drawn], list[Refused]]:
    drawn: dict[str, _Drawn] = {}
    refused: list[Refused] = []
    begin, ahead = as_of + JUST_AFTER, settings.look_ahead_delta
    windows: dict[str, Plan] = {}
    for place, spec in enumerate(specs):
        try:
            identity = f"{actor.tenant}/{spec.get('name')}"
            schedule = register(
                spec, as_of=as_of, identity=identity, min_interval=min_interval, reach=settings.reach
            )
            if schedule.name in drawn:
                raise _taken(schedule.name)
        except SpecError as error:
            refused.append(Refused(place, error))
            continue
        first = windows.get(schedule.cadence_text)
        if first is None:
            first = window(schedule.cadence, begin, 0, as_of=as_of, ahead=ahead)
            windows[schedule.cadence_text] = first
        drawn[schedule.name] = _Drawn(place, schedule, first)
    return drawn, refused


def _taken(name: str) -> SpecError:
    return SpecError(f'there is already a schedule "{name}"', code="conflict", field="name")
