"""Create, edit, pause, resume, delete, trigger: the verbs of a schedule."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from detent.commands.targets import make_ready
from detent.commands.window import account_for_the_past, plan_window, promise_once, readable
from detent.domain.errors import UNREADABLE, DetentError, SpecError, said
from detent.domain.limits import EARLIEST
from detent.domain.plan import Cadence, Kind
from detent.domain.schedule import Schedule, read_cadence, register
from detent.settings import Settings
from detent.store import planning, schedules
from detent.store.pool import Connection
from detent.store.schedules import Stored, Tenant

DEFAULT_TENANT: Final = "default"
JUST_AFTER: Final = timedelta.resolution
"""A change accounts for its own instant, too; what is new begins after it."""


class NotFound(DetentError):
    """There is no such schedule or tenant."""

    code = "not_found"


class Conflict(DetentError):
    """The name is taken, or the schedule is not in a state for this."""

    code = "conflict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who asks, and why: written into the revision."""

    by: str
    reason: str | None = None
    tenant: str = DEFAULT_TENANT


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """The verbs, on one connection. Each opens its own transaction."""

    connection: Connection
    settings: Settings

    async def create(
        self,
        spec: Mapping[str, object],
        actor: Actor,
        *,
        origin: str | None = None,
        declared: str | None = None,
    ) -> int:
        async with self.connection.transaction():
            tenant, as_of = await self._tenant(actor), await planning.now(self.connection)
            schedule = await self._registered(spec, as_of, tenant, actor)
            schedule_id = await schedules.insert_schedule(
                self.connection, tenant.id, schedule, status="paused" if schedule.paused else "active",
                origin=origin, declared=declared, by=actor.by, reason=actor.reason, as_of=as_of,
                first=as_of + JUST_AFTER,
            )  # fmt: skip
            if schedule_id is None:
                raise Conflict(
                    f'there is already a schedule "{schedule.name}": edit it, or choose another name'
                )
            if not schedule.paused:
                await plan_window(
                    self.connection, self.settings, schedule_id, schedule.cadence, as_of + JUST_AFTER, as_of,
                    fired=0, revision=1, before=None,
                )  # fmt: skip
            return schedule_id

    async def edit(
        self, name: str, spec: Mapping[str, object], actor: Actor, *, declared: str | None = None
    ) -> int:
        """A new revision, from now on. Returns its number. Whether it is paused stays as it is, if nothing is said."""
        async with self.connection.transaction():
            tenant, stored, as_of = await self._locked(name, actor)
            schedule = await self._registered(_with_old_anchors(spec, stored), as_of, tenant, actor)
            if schedule.name != name:
                raise SpecError("a schedule keeps its name", code="conflict", field="name")
            stored = await account_for_the_past(self.connection, stored, as_of)
            number = stored.revision + 1
            await schedules.revise(
                self.connection, stored.id, number, schedule, by=actor.by, reason=actor.reason, declared=declared,
                as_of=as_of,
            )  # fmt: skip
            if "paused" in spec:
                stored = stored._replace(status="paused" if schedule.paused else "active")
            await self._under_new_revision(stored, number, schedule.cadence, actor, as_of)
            return number

    async def pause(
        self, name: str, actor: Actor, *, until: datetime | None = None, revision: int | None = None
    ) -> None:
        """Nothing of it is claimed from here on. What falls into the pause does not fire afterwards.

        With a revision, only if it is still that one, and active."""
        async with self.connection.transaction():
            _, stored, as_of = await self._locked(name, actor)
            if revision is not None and (stored.revision, stored.status) != (revision, "active"):
                raise Conflict(f'"{name}" was changed meanwhile')
            if until is not None and until <= as_of:
                raise SpecError("the end of a pause must lie ahead", code="out_of_range", field="until")
            await self._withhold(await account_for_the_past(self.connection, stored, as_of), actor, until)

    async def resume(self, name: str, actor: Actor) -> None:
        """From now on, or from the end of its pause, if that has come already."""
        async with self.connection.transaction():
            _, stored, as_of = await self._locked(name, actor)
            if stored.status not in ("paused", "parked"):
                raise Conflict(f'"{name}" is not paused')
            try:
                read_cadence(stored.cadence)
            except UNREADABLE as error:
                raise Conflict(f'"{name}" can\'t be read: edit it ({said(error)})') from error
            await self._resume(stored, as_of)

    async def end_pause(self, name: str, actor: Actor) -> str | None:
        """The same, if the pause still has an end, and it has come. One that can't be read is parked: says why."""
        async with self.connection.transaction():
            _, stored, as_of = await self._locked(name, actor)
            if stored.paused_until is None or stored.paused_until > as_of:
                raise Conflict(f'the pause of "{name}" is not over')
            try:
                read_cadence(stored.cadence)
            except UNREADABLE as error:
                await planning.park(self.connection, stored.id, stored.revision, said(error))
                return said(error)
            await self._resume(stored, as_of)
            return None

    async def delete(self, name: str, actor: Actor) -> None:
        """Its history stays; what waits of it ends as withdrawn."""
        async with self.connection.transaction():
            _, stored, as_of = await self._locked(name, actor)
            stored = await account_for_the_past(self.connection, stored, as_of)
            await schedules.set_status(self.connection, stored.id, "deleted", actor.reason)
            await self._stop_timer(stored)
            await schedules.hold(self.connection, stored.id, "deleted")

    async def trigger(self, name: str, actor: Actor) -> datetime:
        """One firing now, beside the slots."""
        async with self.connection.transaction():
            _, stored, as_of = await self._locked(name, actor)
            return await promise_once(self.connection, stored.id, as_of, Kind.MANUAL)

    async def follow_rules(self, name: str, actor: Actor, *, tzdata: str | None, held: Cadence) -> bool:
        """A new revision of the same spec, for zone rules have changed. Until now they were those of `tzdata`, by which
        the cadence was `held`. Not if somebody was faster."""
        async with self.connection.transaction():
            _, stored, as_of = await self._locked(name, actor)
            if stored.tzdata != tzdata or stored.status not in ("active", "paused"):
                return False
            stored = await account_for_the_past(self.connection, stored, as_of, held)
            number = stored.revision + 1
            await schedules.renew_revision(
                self.connection, stored.id, number, by=actor.by, reason=actor.reason, as_of=as_of
            )
            await self._under_new_revision(stored, number, read_cadence(stored.cadence), actor, as_of)
            return True

    async def declare(self, spec: Mapping[str, object], actor: Actor, *, origin: str) -> bool:
        """What code says a schedule is: created, edited if it says something else than before, else left alone."""
        declared, name = declaration(spec), spec.get("name")
        async with self.connection.transaction():
            tenant = await self._tenant(actor)
            stored = await schedules.lock_schedule(self.connection, tenant.id, str(name))
            if stored is not None and stored.origin != origin:
                whose = "by hand" if stored.origin is None else f'by the app "{stored.origin}"'
                raise Conflict(f'there is a schedule "{name}" already, made {whose}: choose another name')
            if stored is not None and stored.declared == declared:
                return False
            if stored is None:
                await self.create(spec, actor, origin=origin, declared=declared)
            else:
                await self.edit(str(name), spec, actor, declared=declared)
            return True

    async def _registered(
        self, spec: Mapping[str, object], as_of: datetime, tenant: Tenant, actor: Actor
    ) -> Schedule:
        schedule = register(
            spec, as_of=as_of, identity=f"{actor.tenant}/{spec.get('name')}", min_interval=tenant.min_interval,
            reach=self.settings.reach,
        )  # fmt: skip
        for error in (await make_ready(self.connection, self.settings, tenant.id, {0: schedule})).values():
            raise error
        return schedule

    async def _tenant(self, actor: Actor) -> Tenant:
        tenant = await schedules.tenant(self.connection, actor.tenant)
        if tenant is None:
            raise NotFound(f'there is no tenant "{actor.tenant}"')
        return tenant

    async def _locked(self, name: str, actor: Actor) -> tuple[Tenant, Stored, datetime]:
        """The schedule, locked, and the instant of the decision, read after the lock was granted."""
        tenant = await self._tenant(actor)
        stored = await schedules.lock_schedule(self.connection, tenant.id, name)
        if stored is None:
            raise NotFound(f'there is no schedule "{name}"')
        return tenant, stored, await planning.now(self.connection)

    async def _under_new_revision(
        self, stored: Stored, number: int, cadence: Cadence, actor: Actor, as_of: datetime
    ) -> None:
        if stored.status == "paused":
            paused = stored._replace(revision=number, next_at=as_of + JUST_AFTER)
            await self._withhold(paused, actor, stored.paused_until)
        else:
            edited = stored._replace(revision=number, next_at=EARLIEST)
            await self._go_on(edited, cadence, as_of + JUST_AFTER, as_of)

    async def _withhold(self, stored: Stored, actor: Actor, until: datetime | None) -> None:
        """What waits is held back; what is due at the end of the pause or later is not."""
        await schedules.set_status(self.connection, stored.id, "paused", actor.reason, until)
        await self._stop_timer(stored)
        await schedules.replace_waiting(self.connection, stored.id)
        await schedules.hold(self.connection, stored.id, "paused", until)

    async def _stop_timer(self, stored: Stored) -> None:
        await schedules.set_timer(
            self.connection, stored.id, stored.next_at,
            active=False, fired=stored.fired_count, revision=stored.revision,
        )  # fmt: skip

    async def _resume(self, stored: Stored, as_of: datetime) -> None:
        end = min(as_of, stored.paused_until or as_of)
        stored = await account_for_the_past(self.connection, stored, end - JUST_AFTER)
        await self._go_on(stored, read_cadence(stored.cadence), end, as_of)

    async def _go_on(self, stored: Stored, cadence: Cadence, begin: datetime, as_of: datetime) -> None:
        """Active from `begin` on, by this cadence, which has its omissions before `next_at` on record."""
        await schedules.set_status(self.connection, stored.id, "active", None)
        ahead = await schedules.ahead(self.connection, stored.id, begin)
        await plan_window(
            self.connection, self.settings, stored.id, cadence, begin, as_of,
            fired=max(0, stored.fired_count - ahead), revision=stored.revision, cursor=stored.next_at,
            before=readable(stored.cadence),
        )  # fmt: skip


def declaration(spec: Mapping[str, object]) -> str:
    """What is compared to know whether code says something else than before."""
    return json.dumps(spec, sort_keys=True, default=str)


def _with_old_anchors(spec: Mapping[str, object], stored: Stored) -> Mapping[str, object]:
    """A trigger that is as it was keeps the anchor that it got when it was registered."""
    old = stored.spec.get("triggers", [])
    anchors = {_without_anchor(t): t["start_at"] for t in old if "start_at" in t}  # type: ignore[attr-defined]
    given = spec.get("triggers", [spec.get("trigger")])
    if not isinstance(given, list):
        return spec
    kept = [
        {**t, "start_at": anchors[_without_anchor(t)]}
        if isinstance(t, Mapping) and "start_at" not in t and _without_anchor(t) in anchors
        else t
        for t in given
    ]
    return {**{key: value for key, value in spec.items() if key != "trigger"}, "triggers": kept}


def _without_anchor(trigger: Mapping[str, object]) -> str:
    plain = {("timezone" if k == "tz" else k): v for k, v in trigger.items() if k != "start_at"}
    return json.dumps(plain, sort_keys=True, default=str)
