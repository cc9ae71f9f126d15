"""A house where time stands still until a test moves it: commands, a planner and what follows from them.

Every session of it lives at `house.now`, as SQL asks. Nothing runs by itself: tests tick what they want to see.

    house = await open_house(database, "2026-03-01T01:59:00Z")
    await house.create(trigger={"cron": "0 2 * * *"})
    await house.tick("2026-03-01T01:59:40Z")       # the planner, and what ends waiting firings
    assert house.firings() == …

`judge()` recomputes every slot from the revisions by stepping through them, and compares: each slot before the cursor is
a firing or lies in an omission, and nothing was promised that no revision yields.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest_asyncio

from detent import clock
from detent.commands.schedules import Actor, Commands
from detent.domain.at import At
from detent.domain.instant import parse_instant
from detent.domain.plan import Cadence, Misfire
from detent.domain.spec import read_triggers
from detent.domain.spread import Spread
from detent.domain.trigger import Triggers
from detent.domain.zone import Zone
from detent.domain.zone_change import under
from detent.node.deadlines import Deadlines
from detent.node.lease import Lease
from detent.node.planner import Planner
from detent.node.shards import Shards
from detent.observe.events import Event, Events
from detent.settings import Settings
from detent.store import audit, schedules, zone_rules
from detent.store.pool import Pool
from tests.postgres import set_now

ME = Actor(by="ada", reason="because")
START = "2026-03-01T00:00:00Z"
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
LONG_AGO, FAR = datetime(1990, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


def at(text: str | datetime) -> datetime:
    """An instant; without a date, on the first day."""
    if isinstance(text, datetime):
        return text
    return parse_instant(text if "T" in text else f"2026-03-01T{text}Z", "at")


class House:
    """Sessions at one moment, and the verbs that tests use most."""

    def __init__(self, pool: Pool, settings: Settings) -> None:
        self.pool = pool
        self.settings = settings
        self.now = at(START)
        self.told: list[Event] = []
        self.events = Events(self.told.append)
        self.lease = Lease(settings, "planner", self.events)
        self.shards = Shards(pool, self.lease, self.events)
        self.planner = Planner(pool, self.lease, self.shards, settings, self.events)
        self.shards.on_change = self.planner.shards_changed

    async def enter(self) -> None:
        """The planner gets its lease and its shards; any interval is allowed."""
        async with self.pool.acquire() as connection:
            await schedules.set_min_interval(connection, "default", timedelta(milliseconds=1))
            await self.lease.register(connection)
        await self.shards.tick()
        self.told.clear()

    def turn(self, when: str | datetime | timedelta) -> None:
        """The clock of the house: to an instant, or on by so much."""
        self.now = self.now + when if isinstance(when, timedelta) else at(when)

    # Verbs

    async def act(self, verb: str, *arguments: Any, actor: Actor = ME, **named: Any) -> Any:
        async with self.pool.acquire() as connection:
            commands = Commands(connection=connection, settings=self.settings)
            return await getattr(commands, verb)(*arguments, actor, **named)

    async def create(self, **spec: Any) -> int:
        return await self.act("create", whole(spec))

    async def edit(self, **spec: Any) -> int:
        spec = whole(spec)
        return await self.act("edit", spec["name"], spec)

    async def pause(self, name: str = "s", **named: Any) -> None:
        await self.act("pause", name, **named)

    async def resume(self, name: str = "s") -> None:
        await self.act("resume", name)

    async def plan(self) -> None:
        while await self.planner.tick():
            pass

    async def end_waiting(self) -> None:
        deadlines = Deadlines(self.pool, self.events)
        while await deadlines.tick():
            pass

    async def tick(self, when: str | datetime | timedelta | None = None) -> None:
        """At that moment, the planner plans, and what has waited in vain ends."""
        if when is not None:
            self.turn(when)
        await self.plan()
        await self.end_waiting()

    # What has become of it

    async def fetch(self, sql: str, *arguments: Any) -> list[asyncpg.Record]:
        async with self.pool.acquire() as connection:
            return await connection.fetch(sql, *arguments)

    async def value(self, sql: str, *arguments: Any) -> Any:
        async with self.pool.acquire() as connection:
            return await connection.fetchval(sql, *arguments)

    async def execute(self, sql: str, *arguments: Any) -> None:
        async with self.pool.acquire() as connection:
            await connection.execute(sql, *arguments)

    async def places(self, name: str = "s") -> list[tuple[str, str]]:
        """Each firing, and where it is: waiting, held and why, running, dead, or how it ended."""
        rows = await self.fetch(
            "select f.scheduled_for, case when w.held is not null then 'held: ' || w.held when w.schedule_id is not null"
            " then 'waiting' when r.node is not null then 'running' when d.schedule_id is not null then 'dead'"
            " else a.outcome || coalesce(': ' || a.code, '') end as place"
            " from detent.firing f join detent.schedule s on s.id = f.schedule_id and s.name = $1"
            " left join detent.waiting w using (schedule_id, scheduled_for)"
            " left join detent.running r using (schedule_id, scheduled_for)"
            " left join detent.dead d using (schedule_id, scheduled_for)"
            " left join detent.attempt a on a.schedule_id = f.schedule_id and a.scheduled_for = f.scheduled_for and a.final"
            " order by f.scheduled_for",
            name,
        )
        return [(short(row[0]), row[1]) for row in rows]

    async def firings(self, name: str = "s") -> list[tuple[str, str]]:
        """Each with its kind."""
        rows = await self.fetch(
            "select scheduled_for, kind from detent.firing f join detent.schedule s on s.id = f.schedule_id"
            " and s.name = $1 order by scheduled_for",
            name,
        )
        return [(short(row[0]), row[1]) for row in rows]

    async def omissions(self, name: str = "s") -> list[tuple[str, str, str, int | None]]:
        rows = await self.fetch(
            "select o.from_at, o.to_at, o.reason, o.count from detent.omission o join detent.schedule s"
            " on s.id = o.schedule_id and s.name = $1 order by o.from_at",
            name,
        )
        return [(short(row[0]), short(row[1]), row[2], row[3]) for row in rows]

    async def cursor(self, name: str = "s") -> str | None:
        found = await self.value(
            "select next_at from detent.timer t join detent.schedule s on s.id = t.schedule_id where s.name = $1"
            " order by s.id desc limit 1",
            name,
        )
        return found and short(found)

    def told_of(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.told if isinstance(event, kind)]

    # The judge

    async def judge(self) -> list[str]:
        """What is wrong with the ledger: in words, none if nothing is."""
        async with self.pool.acquire() as connection:
            wrong = [str(breach) for breach in await audit.breaches(connection, LONG_AGO, FAR)]
            rules = await zone_rules.zone_rules(connection)
        for row in await self.fetch("select id, name from detent.schedule"):
            wrong += [f"{row['name']}: {what}" for what in await self._misplanned(row["id"], rules)]
        return wrong

    async def _misplanned(self, schedule_id: int, rules: Mapping[str, Mapping[str, Zone]]) -> list[str]:
        timer = (await self.fetch("select * from detent.timer where schedule_id = $1", schedule_id))[0]
        status = await self.value("select status from detent.schedule where id = $1", schedule_id)
        revisions = await self.fetch(
            "select * from detent.revision where schedule_id = $1 order by number", schedule_id
        )
        firings = {
            row["scheduled_for"]: row
            for row in await self.fetch("select * from detent.firing where schedule_id = $1", schedule_id)
        }
        omissions = await self.fetch("select * from detent.omission where schedule_id = $1", schedule_id)
        wrong, yielded = [], set()
        for revision in revisions:
            begin, end = revision["valid_from"], revision["valid_to"]
            live = end is None
            if live:
                end = timer["next_at"] or self.now + self.settings.look_ahead_delta
            spec = json.loads(revision["spec"])
            triggers = read_triggers(spec["triggers"], identity=f"default/{spec['name']}")
            triggers = under_rules(triggers, rules.get(revision["tzdata"], {}))
            # A change accounts for its own instant, too, and the revision begins after it.
            for slot in triggers.slots(begin + timedelta.resolution, max(begin, end) + timedelta.resolution):
                if live and slot.at == timer["next_at"]:
                    continue
                yielded.add(slot.at)
                omitted = [o for o in omissions if o["from_at"] <= slot.at < o["to_at"]]
                if slot.excluded:
                    if not omitted and status in ("active", "paused"):
                        wrong.append(f"excluded slot {short(slot.at)} has no omission")
                elif slot.at not in firings and not omitted and not _used_up(spec, timer):
                    wrong.append(f"slot {short(slot.at)} is neither a firing nor an omission")
            yielded |= {
                t.rule.instant for t in triggers.each if isinstance(t.rule, At)
            }  # late ones fire, too
            yielded |= {s.at for s in triggers.slots(end, end + self.settings.look_ahead_delta)}
        for when, firing in firings.items():
            if firing["kind"] in ("slot", "catch_up") and when not in yielded:
                wrong.append(f"firing {short(when)} is no slot of any revision")
        return wrong


def under_rules(triggers: Triggers, rules: Mapping[str, Zone]) -> Triggers:
    """By the zone rules that a revision followed."""
    return under(Cadence(triggers=triggers, spread=Spread(), misfire=Misfire()), rules).triggers


def _used_up(spec: Mapping[str, Any], timer: Mapping[str, Any]) -> bool:
    return bool(spec.get("max_firings")) and timer["fired_count"] >= spec["max_firings"]


def whole(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A spec with what every schedule has."""
    return {"name": "s", "target": {"task": "t"}, **spec}


def short(instant: datetime) -> str:
    """An instant of the first day as a time, any other one with its day."""
    text = instant.astimezone(UTC).strftime("%d %H:%M:%S.%f")
    text = text.removesuffix("000").removesuffix(".000")
    return (
        text.removeprefix("01 ") if (instant.year, instant.month) == (2026, 3) else f"{instant:%Y-%m}-{text}"
    )


async def open_house(database: str, **changes: Any) -> House:
    settings = Settings(database_url=database, **({"lease_ttl": 3600.0} | changes))

    async def enter(connection: asyncpg.Connection) -> None:
        await set_now(connection, house.now)

    async def stay(_: asyncpg.Connection) -> None:
        """The next one to enter sets the clock anew."""

    pool = await asyncpg.create_pool(
        database,
        min_size=1,
        max_size=4,
        setup=enter,
        reset=stay,
        server_settings={"timezone": "UTC", "jit": "off"},
    )
    house = House(pool, settings)
    await house.enter()
    return house


@pytest_asyncio.fixture
async def house(database: str):
    """Closed after the test, with the ledger judged."""
    opened = await open_house(database)
    yield opened
    try:
        wrong = await opened.judge()
        assert not wrong, "\n".join(wrong)
    finally:
        opened.pool.terminate()


async def wait_until(condition, *, within: float = 10.0) -> None:
    """Ticks the loop until it is so."""
    deadline = clock.monotonic() + within
    while not await condition():
        assert clock.monotonic() < deadline, "it did not come to that"
