"""Zone rules that change with a new tzdata package: the schedules whose slots move get new revisions, and are named.

Whoever holds shard 0 compares the rules of its package with those that planned before, which are kept in the database,
and walks over the schedules in parts. Each says in its revision by which package it was planned, and is changed
under its lock in a transaction of its own. So the walk may be cut off anywhere, and begin anew, or be taken over by
another planner: what is done is seen to be done. Only planners with the newest package plan: see shards.py.

Slots are compared for two years. Planning goes on meanwhile, by the new rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from detent import clock
from detent.commands.schedules import Actor, Commands, NotFound
from detent.commands.window import readable
from detent.domain import zone
from detent.domain.zone import Zone
from detent.domain.zone_change import Move, differences, first_move, spans, under
from detent.node.shards import Shards
from detent.observe.events import Events, SlotsMoved, ZoneRulesChanged
from detent.settings import Settings
from detent.store import planning
from detent.store import zone_rules as store
from detent.store.pool import Connection, Pool
from detent.store.zone_rules import InZones

EVERY_SECONDS: Final = 10.0
_IDS: Final = 10_000
"""Schedules looked at in one statement: some tens of milliseconds."""
_TURN_SECONDS: Final = 1.0
"""Then other loops, and whoever waits for a connection, have their turn."""

Rules = dict[str, Zone]


@dataclass(slots=True, kw_only=True)
class _Walk:
    """From the first schedule to the last one that there was at its beginning."""

    before: str
    rules: dict[str, Rules]
    zones: list[str]
    last: int
    at: int = 0
    moved: int = 0
    known: dict[tuple[str | None, str], Move | None] = field(default_factory=dict)


class ZoneRules:
    """`tick` for the shared runner."""

    def __init__(self, database: Pool, shards: Shards, settings: Settings, events: Events) -> None:
        self._database = database
        self._shards = shards
        self._settings = settings
        self._events = events
        self._walk: _Walk | None = None

    async def tick(self) -> bool:
        if 0 not in self._shards.held:
            self._walk = None
            return False
        async with self._database.acquire() as connection:
            if self._walk is None:
                self._walk = await self._begin(connection)
            if self._walk is None:
                return False
            await self._step(connection, self._walk)
            if self._walk.at < self._walk.last:
                return True
            await self._end(connection, self._walk)
            return False

    async def _begin(self, connection: Connection) -> _Walk | None:
        """None if nothing has to be done."""
        before, ours = await store.tzdata(connection), zone.TZDATA_VERSION
        if before == ours:
            return None
        now = await planning.now(connection)
        written, changed = {}, set()
        rules = await store.zone_rules(connection)
        former = [rules[version] for version in rules.keys() - {ours}]
        for name in sorted(zone.zone_names()):
            mine = zone.read(name)
            written[name] = spans(mine, now)
            if any(any(differences(old[name], mine, now)) for old in former if name in old):
                changed.add(name)
        await store.write_zone_rules(connection, ours, written)
        if before is None:
            await store.set_tzdata(connection, ours)
            return None
        last = await store.last_schedule(connection) if changed else 0
        return _Walk(before=before, rules=rules, zones=sorted(changed), last=last)

    async def _step(self, connection: Connection, walk: _Walk) -> None:
        until = min(walk.last, walk.at + _IDS)
        if walk.at >= until:
            return
        ends = clock.monotonic() + _TURN_SECONDS
        for row in await store.schedules_in_zones(connection, walk.at, until, walk.zones):
            await self._compare(connection, walk, row)
            walk.at = row.id
            if clock.monotonic() > ends or not self._shards.held:
                return
            await clock.sleep(0)
        walk.at = until

    async def _compare(self, connection: Connection, walk: _Walk, row: InZones) -> None:
        if row.tzdata == zone.TZDATA_VERSION:
            return
        cadence = readable(row.cadence)
        if cadence is None:
            return  # the planner parks it
        held = under(cadence, walk.rules.get(row.tzdata or walk.before) or walk.rules[walk.before])
        key = row.tzdata, row.cadence
        if key not in walk.known:
            walk.known[key] = first_move(held, cadence, await planning.now(connection))
        move = walk.known[key]
        if move is None:
            return
        reason = f"zone rules changed: tzdata {row.tzdata or walk.before}, now {zone.TZDATA_VERSION}"
        actor = Actor(by="detent", reason=reason, tenant=row.tenant)
        commands = Commands(connection=connection, settings=self._settings)
        try:
            done = await commands.follow_rules(row.name, actor, tzdata=row.tzdata, held=held)
        except NotFound:  # deleted just now
            return
        if done:
            walk.moved += 1
            self._events.emit(
                SlotsMoved(
                    schedule_id=row.id, tenant=row.tenant, name=row.name, before=move.before, after=move.after
                )
            )  # fmt: skip

    async def _end(self, connection: Connection, walk: _Walk) -> None:
        await store.set_tzdata(connection, zone.TZDATA_VERSION)
        self._walk = None
        self._events.emit(
            ZoneRulesChanged(
                before=walk.before, after=zone.TZDATA_VERSION, zones=tuple(walk.zones), schedules=walk.moved
            )
        )
