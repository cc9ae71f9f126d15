"""A planner that starts with another tzdata package: slots move, schedules get new revisions, and are named."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from detent.domain import zone as zones
from detent.domain.schedule import read_cadence
from detent.domain.zone import Zone
from detent.node.shards import Shards
from detent.node.zone_rules import ZoneRules
from detent.observe.events import ScheduleParked, SlotsMoved, ZoneRulesChanged, ZoneRulesOutdated
from detent.store import nodes
from detent.store import zone_rules as store
from tests.domain.test_zone_change import NEW, OLD
from tests.house import at

VANCOUVER = OLD.name
DAILY = {"cron": "0 9 * * *", "timezone": VANCOUVER}
BEFORE, AFTER = "2026e", "2026f"
NOVEMBER = "2026-10-31T12:00:00Z"


@pytest.fixture
def package(monkeypatch):
    """Installs a tzdata package: the one place that knows of it is detent/domain/zone.py."""
    real, every = zones.read, zones.zone_names()

    def install(version: str, changed: Zone | None = None, *, without: str | None = None) -> None:
        monkeypatch.setattr(zones, "TZDATA_VERSION", version)
        monkeypatch.setattr(
            zones, "read", lambda name: changed if changed and name == changed.name else real(name)
        )
        names = every - {without}
        monkeypatch.setattr(zones, "zone_names", lambda: names)
        forget()

    def forget() -> None:
        zones._load.cache_clear()
        read_cadence.cache_clear()

    yield install
    forget()


class Planners:
    """Planners that follow the rules of the package that is installed when they are ticked."""

    def __init__(self, house):
        self.house = house

    def start(self) -> ZoneRules:
        return ZoneRules(self.house.pool, self.house.shards, self.house.settings, self.house.events)

    async def settle(self, rules: ZoneRules | None = None) -> None:
        rules = rules or self.start()
        while await rules.tick():
            pass

    async def moved(self) -> list[str]:
        return sorted(event.name for event in self.house.told_of(SlotsMoved))

    async def revisions(self, name: str = "s") -> list[tuple[int, str | None]]:
        rows = await self.house.fetch(
            "select r.number, r.tzdata from detent.revision r join detent.schedule s on s.id = r.schedule_id"
            " where s.name = $1 order by 1", name,
        )  # fmt: skip
        return [tuple(row) for row in rows]


@pytest.fixture
async def planners(house, package):
    """The house was planned by the old package, at the eve of the day that it got wrong."""
    package(BEFORE, OLD)
    made = Planners(house)
    house.turn(NOVEMBER)
    await house.enter()  # as a planner with the old package; its first lease is long over
    await made.settle()
    assert await house.value("select version from detent.tzdata") == BEFORE
    return made


# R-TIME-1, R-PLAN-9
async def test_schedules_whose_slots_move_are_revised_and_named(planners, house, package):
    await house.create(name="daily", trigger=DAILY)
    await house.create(name="hourly", trigger={"cron": "0 * * * *", "timezone": VANCOUVER})
    await house.create(name="elsewhere", trigger={"cron": "0 9 * * *", "timezone": "Europe/Berlin"})
    await house.create(name="summer", trigger={"cron": "0 9 * 7 *", "timezone": VANCOUVER})
    house.told.clear()
    package(AFTER, NEW)
    await planners.settle()
    assert house.told == [
        SlotsMoved(schedule_id=1, tenant="default", name="daily", before=at("2026-11-01T17:00:00Z"), after=at("2026-11-01T16:00:00Z")),
        ZoneRulesChanged(before=BEFORE, after=AFTER, zones=(VANCOUVER,), schedules=1),
    ]  # fmt: skip
    assert await planners.revisions("daily") == [(1, BEFORE), (2, AFTER)]
    assert await planners.revisions("hourly") == [(1, BEFORE)]
    row = (
        await house.fetch("select by, reason, spec->>'name' as name from detent.revision where number = 2")
    )[0]
    assert tuple(row) == ("detent", "zone rules changed: tzdata 2026e, now 2026f", "daily")


async def test_the_cursor_follows_the_new_rules_so_that_no_slot_is_lost(planners, house, package):
    """By the old rules it fires at 17:00, by the new ones an hour earlier: a planner that went on from its cursor would
    have left out the day."""
    await house.create(trigger=DAILY)
    await house.tick("2026-10-31T16:00:00Z")
    await house.tick("2026-10-31T20:00:00Z")
    assert await house.value("select next_at from detent.timer") == at("2026-11-01T17:00:00Z")
    package(AFTER, NEW)
    await planners.settle()
    assert await house.value("select next_at from detent.timer") == at("2026-11-01T16:00:00Z")
    await house.tick("2026-11-01T15:59:45Z")
    await house.tick("2026-11-01T16:59:45Z")
    assert await house.value("select array_agg(scheduled_for order by 1) from detent.firing") == [
        at("2026-10-31T16:00:00Z"), at("2026-11-01T16:00:00Z"),
    ]  # fmt: skip


async def test_what_waits_and_is_no_slot_any_more_is_withdrawn(planners, house, package):
    await house.create(trigger=DAILY)
    await house.tick("2026-10-31T16:00:00Z")
    await house.tick("2026-11-01T16:59:45Z")
    assert [place for _, place in await house.places()][-1] == "waiting"
    package(AFTER, NEW)
    await planners.settle()
    await house.tick("2026-11-01T17:00:00Z")
    assert [place for _, place in await house.places()][-1] == "withdrawn: edited"
    assert await house.value("select next_at from detent.timer") == at("2026-11-02T16:00:00Z")


async def test_what_was_due_by_the_old_rules_is_accounted_for_by_them(planners, house, package):
    await house.create(trigger=DAILY)
    await house.tick("2026-10-31T16:00:00Z")
    house.turn("2026-11-01T17:00:30Z")  # nobody planned 17:00
    package(AFTER, NEW)
    await planners.settle()
    last = (await house.fetch("select scheduled_for, kind from detent.firing order by 1"))[-1]
    assert tuple(last) == (at("2026-11-01T17:00:00Z"), "catch_up")


async def test_paused_schedules_stay_paused(planners, house, package):
    await house.create(trigger=DAILY)
    await house.pause()
    package(AFTER, NEW)
    await planners.settle()
    assert await planners.moved() == ["s"]
    assert await house.value("select status from detent.schedule") == "paused"
    house.turn("2026-11-01T15:00:00Z")
    await house.resume()
    assert await house.value("select next_at from detent.timer") == at("2026-11-01T16:00:00Z")


async def test_it_is_done_once_and_not_again_by_the_next_planner(planners, house, package):
    await house.create(trigger=DAILY)
    package(AFTER, NEW)
    await planners.settle()
    house.told.clear()
    await planners.settle()
    await planners.settle(planners.start())
    assert house.told == []
    assert len(await planners.revisions()) == 2


async def test_rules_that_changed_for_nobody_are_taken_over_silently(planners, house, package):
    await house.create(trigger=DAILY)
    package(AFTER, OLD)
    await planners.settle()
    assert house.told == [ZoneRulesChanged(before=BEFORE, after=AFTER, zones=(), schedules=0)]
    assert await house.value("select version from detent.tzdata") == AFTER


async def test_a_walk_that_was_cut_off_is_finished_by_another(planners, house, package, monkeypatch):
    monkeypatch.setattr("detent.node.zone_rules._TURN_SECONDS", -1.0)  # one schedule a tick
    for n in range(5):
        await house.create(name=f"s{n}", trigger=DAILY)
    package(AFTER, NEW)
    first = planners.start()
    for _ in range(2):
        assert await first.tick()
    assert await planners.moved() == ["s0", "s1"]
    assert await house.value("select version from detent.tzdata") == BEFORE
    await planners.settle()  # the first one is gone
    assert await planners.moved() == ["s0", "s1", "s2", "s3", "s4"], "each once"
    assert await house.value("select version from detent.tzdata") == AFTER


async def test_a_walk_ends_with_its_shard(planners, house, package, monkeypatch):
    monkeypatch.setattr("detent.node.zone_rules._TURN_SECONDS", -1.0)
    for n in range(3):
        await house.create(name=f"s{n}", trigger=DAILY)
    package(AFTER, NEW)
    rules = planners.start()
    assert await rules.tick()
    held, house.shards.held = house.shards.held, {}
    assert not await rules.tick()
    assert await planners.moved() == ["s0"]
    house.shards.held = held
    await planners.settle(rules)
    assert await planners.moved() == ["s0", "s1", "s2"]


async def test_two_who_walk_at_once_revise_each_schedule_once(planners, house, package, monkeypatch):
    monkeypatch.setattr("detent.node.zone_rules._TURN_SECONDS", -1.0)
    for n in range(4):
        await house.create(name=f"s{n}", trigger=DAILY)
    package(AFTER, NEW)
    one, other = planners.start(), planners.start()
    while await one.tick() | await other.tick():
        pass
    assert await planners.moved() == ["s0", "s1", "s2", "s3"]


async def test_a_step_back_to_the_old_package_is_a_change_as_well(planners, house, package):
    """The new version was rolled back: the schedules follow, those that the new one had reached and the others."""
    await house.create(trigger=DAILY)
    package(AFTER, NEW)
    await planners.settle()
    house.turn(timedelta(minutes=1))
    package(BEFORE, OLD)
    await planners.settle()
    assert [version for _, version in await planners.revisions()] == [BEFORE, AFTER, BEFORE]
    assert await house.value("select next_at from detent.timer") == at("2026-10-31T16:00:00Z")


# R-PLAN-2
async def test_a_planner_with_an_older_package_leaves_planning_to_the_newer_one(
    planners, house, package, monkeypatch
):
    """It doesn't revise anything back, and takes over again when the newer one is gone."""
    await house.create(trigger=DAILY)
    package(AFTER, NEW)
    async with house.pool.acquire() as connection:
        await nodes.register_node(connection, 77, "planner", "1", AFTER, 3600)
    await house.shards.tick()
    assert house.shards.held == {}
    assert house.told_of(ZoneRulesOutdated) == [ZoneRulesOutdated(ours=BEFORE, newest=AFTER)]
    package(BEFORE, OLD)
    await planners.settle()
    assert await planners.revisions() == [(1, BEFORE)]
    await house.shards.tick()
    assert len(house.told_of(ZoneRulesOutdated)) == 1, "said once"
    async with house.pool.acquire() as connection:
        await nodes.leave(connection, 77)
    await house.shards.tick()
    assert len(house.shards.held) == 256


async def test_the_newer_planner_gets_all_shards_while_both_live(planners, house, package):
    package(AFTER, NEW)
    lease = type(house.lease)(house.settings, "planner", house.events)
    async with house.pool.acquire() as connection:
        await lease.register(connection)
    newer = Shards(house.pool, lease, house.events)
    await house.shards.tick()
    await newer.tick()
    assert (len(house.shards.held), len(newer.held)) == (0, 256)
    await house.shards.tick()
    await newer.tick()
    assert len(newer.held) == 256


async def test_a_zone_that_was_removed_parks_its_schedules_and_stops_nobody(planners, house, package):
    await house.create(name="gone", trigger=DAILY)
    await house.create(name="berlin", trigger={"cron": "0 9 * * *", "timezone": "Europe/Berlin"})
    package(AFTER, NEW, without=VANCOUVER)
    await planners.settle()
    await house.tick("2026-11-01T15:59:45Z")
    (parked,) = house.told_of(ScheduleParked)
    assert (parked.schedule_id, "Vancouver" in parked.error) == (1, True)
    assert await house.value("select status from detent.schedule where name = 'gone'") == "parked"
    assert await house.firings("berlin") != []
    house.told.clear()
    await house.execute("delete from detent.schedule where name = 'gone'")  # the judge can't read it either
    await house.execute("delete from detent.revision where schedule_id = 1")


async def test_the_rules_of_a_package_are_written_down_once_and_read_back(planners, house):
    async with house.pool.acquire() as connection:
        rules = await store.zone_rules(connection)
    assert rules.keys() == {BEFORE}
    assert rules[BEFORE].keys() == zones.zone_names()
    moment = int(datetime(2027, 1, 1, tzinfo=UTC).timestamp())
    assert rules[BEFORE][VANCOUVER].offset_at(moment) == OLD.offset_at(moment)
