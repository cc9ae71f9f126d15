"""Edits are forward only: no due slot is lost, none fires in retrospect, nothing waits for a tick."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from detent.commands.bulk import create_many
from detent.commands.schedules import Commands, NotFound
from detent.domain.errors import SpecError
from tests.house import ME, MINUTE, at, whole
from tests.postgres import until_blocked

DAILY, HOURLY, MINUTELY = "0 2 * * *", "0 * * * *", "* * * * *"


# R-PLAN-9
async def test_a_rarer_cadence_made_frequent_fires_from_now_on(house):
    await house.create(trigger={"cron": DAILY})
    house.turn("00:10:10")
    await house.edit(trigger={"cron": MINUTELY})
    assert await house.cursor() == "00:11:00"
    await house.tick("00:10:45")
    assert [slot for slot, _ in await house.firings()] == ["00:11:00"]


async def test_a_frequent_cadence_made_rare_withholds_what_waits_and_leaves_the_rest(house):
    await house.create(trigger={"cron": "*/10 * * * * *"})
    await house.tick()
    house.turn("00:00:15")
    await house.edit(trigger={"cron": DAILY})
    assert await house.places() == [
        ("00:00:10", "waiting"), ("00:00:20", "held: edited"), ("00:00:30", "held: edited"),
    ]  # fmt: skip
    assert await house.cursor() == "02:00:00"
    await house.tick("00:00:31")
    assert await house.places() == [
        ("00:00:10", "waiting"), ("00:00:20", "withdrawn: edited"), ("00:00:30", "withdrawn: edited"),
    ]  # fmt: skip


# R-PLAN-5
async def test_an_edit_never_fires_in_retrospect(house):
    """kubernetes#63371: a changed schedule must not run for the time before the change."""
    await house.create(trigger={"cron": "0 12 * * *"})
    house.turn("08:00:00")
    await house.edit(trigger={"cron": "0 6 * * *"})
    assert await house.firings() == []
    assert await house.cursor() == "02 06:00:00"


async def test_an_edit_does_not_lose_the_slot_that_is_due(house):
    """dagster#13329: a slot that was due, and not planned yet, is the old revision's, and fires."""
    await house.create(trigger={"cron": HOURLY})
    house.turn("01:00:05")  # nobody planned 01:00
    await house.edit(trigger={"cron": DAILY})
    assert await house.firings() == [("01:00:00", "catch_up")]
    assert await house.places() == [("01:00:00", "waiting")]
    assert await house.cursor() == "02:00:00"


async def test_the_past_is_accounted_for_by_the_policy_of_the_old_revision(house):
    await house.create(trigger={"cron": HOURLY}, misfire={"policy": "skip"})
    house.turn("05:30:00")
    await house.edit(trigger={"cron": HOURLY}, misfire={"policy": "fire_all"})
    assert await house.firings() == []
    assert await house.omissions() == [("01:00:00", "05:30:00", "misfire", 5)]


async def test_an_edit_at_the_very_instant_of_a_slot_keeps_it(house):
    await house.create(trigger={"cron": HOURLY})
    house.turn("01:00:00")
    await house.edit(trigger={"cron": DAILY})
    assert await house.firings() == [("01:00:00", "slot")]


async def test_what_both_revisions_yield_goes_on_waiting(house):
    await house.create(trigger={"cron": "*/10 * * * * *"})
    house.turn("00:00:05")
    await house.edit(trigger={"cron": "*/20 * * * * *"})
    assert await house.places() == [
        ("00:00:10", "held: edited"), ("00:00:20", "waiting"), ("00:00:30", "held: edited"),
    ]  # fmt: skip


async def test_an_edit_that_is_undone_leaves_everything_as_it_was(house):
    await house.create(trigger={"cron": "*/10 * * * * *"})
    house.turn("00:00:05")
    await house.edit(trigger={"cron": DAILY})
    house.turn("00:00:06")
    await house.edit(trigger={"cron": "*/10 * * * * *"})
    await house.tick("00:00:08")
    assert [place for _, place in await house.places()] == ["waiting"] * 3


async def test_many_edits_in_one_second_lose_nothing_and_double_nothing(house):
    await house.create(trigger={"cron": HOURLY})
    house.turn("00:59:59")
    for n in range(20):
        await house.edit(trigger={"cron": HOURLY}, description=f"edit {n}")
        house.turn(house.now + MINUTE / 600)
    await house.tick()
    assert await house.places() == [("01:00:00", "waiting")]


async def test_an_edit_counts_what_it_withholds_as_not_fired(house):
    await house.create(trigger={"cron": "*/10 * * * * *"}, max_firings=3)
    house.turn("00:00:15")
    for period in ("*/7", "*/10", "*/7", "*/10"):
        await house.edit(trigger={"cron": f"{period} * * * * *"}, max_firings=3)
    await house.tick("00:01:00")
    kept = [slot for slot, place in await house.places() if place == "waiting"]
    assert kept == ["00:00:10", "00:00:20", "00:00:30"]
    assert await house.cursor() is None


async def test_the_limit_of_firings_may_be_raised_and_lowered(house):
    await house.create(trigger={"cron": "*/10 * * * * *"}, max_firings=1)
    assert await house.cursor() is None
    house.turn("00:00:11")
    await house.edit(trigger={"cron": "*/10 * * * * *"}, max_firings=3)
    assert [slot for slot, _ in await house.firings()] == ["00:00:10", "00:00:20", "00:00:30"]
    house.turn("00:00:12")
    await house.edit(trigger={"cron": "*/10 * * * * *"}, max_firings=2)
    assert await house.places() == [
        ("00:00:10", "waiting"), ("00:00:20", "waiting"), ("00:00:30", "held: edited"),
    ]  # fmt: skip


# R-TIME-2
async def test_every_keeps_its_anchor_whatever_else_is_edited(house):
    house.turn("00:00:07")
    await house.create(trigger={"every": "10m"})
    house.turn("00:03:00")
    await house.edit(trigger={"every": "10m"}, payload={"n": 2})
    assert await house.cursor() == "00:10:07"
    house.turn("00:04:00")
    await house.edit(trigger={"every": "20m"}, payload={"n": 2})
    assert await house.cursor() == "00:24:00"


async def test_a_recurrence_rule_with_a_zone_keeps_its_first_day_and_its_count(house):
    rule = {"rrule": "FREQ=HOURLY;COUNT=3", "tz": "Europe/Berlin"}
    await house.create(trigger=rule)
    await house.tick("01:30:00")
    await house.edit(trigger=rule, description="now with a description")
    await house.tick("02:00:01")
    await house.tick("03:00:01")
    assert [slot for slot, _ in await house.firings()] == ["01:00:00", "02:00:00"]


async def test_what_waits_follows_the_new_revision_to_its_pool_lane_and_seats(house):
    await house.create(trigger={"cron": "*/10 * * * * *"})
    house.turn("00:00:05")
    await house.edit(
        trigger={"cron": "*/10 * * * * *"}, pool="big", priority=9, overlap="allow", max_concurrent=3
    )
    rows = await house.fetch("select distinct pool, lane, seats from detent.waiting")
    assert [tuple(row) for row in rows] == [("big", 19, 3)]


async def test_a_schedule_keeps_its_name_and_a_bad_spec_changes_nothing(house):
    await house.create(trigger={"cron": HOURLY})
    with pytest.raises(SpecError, match="keeps its name"):
        await house.act("edit", "s", {"name": "other", "trigger": {"cron": HOURLY}, "target": {"task": "t"}})
    with pytest.raises(SpecError, match="never fires"):
        await house.edit(trigger={"cron": "0 0 30 2 *"})
    assert await house.value("select revision from detent.schedule") == 1


async def test_every_revision_is_kept_with_who_why_and_when(house):
    await house.create(trigger={"cron": HOURLY})
    house.turn("00:30:00")
    await house.edit(trigger={"cron": DAILY})
    rows = await house.fetch(
        "select number, valid_from, valid_to, by, reason from detent.revision order by number"
    )
    assert [tuple(row) for row in rows] == [
        (1, at("00:00:00"), at("00:30:00"), "ada", "because"),
        (2, at("00:30:00"), None, "ada", "because"),
    ]


async def test_a_revision_holds_from_the_instant_of_the_decision_however_long_it_took(connection, settings):
    """A slot between the two would be yielded by one revision, and be said to be the other's."""
    commands, spec = (
        Commands(connection=connection, settings=settings),
        {"trigger": {"cron": HOURLY}, "target": {"task": "t"}, "paused": True},
    )
    await commands.create({"name": "one", **spec}, ME)
    await commands.edit("one", {"name": "one", **spec}, ME)
    await create_many(connection, settings, [{"name": "another", **spec}], ME)
    found = await connection.fetch(
        "select t.next_at - r.valid_from as after, lead(r.valid_from, 1, r.valid_to) over (partition by r.schedule_id"
        " order by r.number) is not distinct from r.valid_to as seamless, r.valid_to is null as holds"
        " from detent.revision r join detent.timer t on t.schedule_id = r.schedule_id order by r.schedule_id, r.number"
    )
    assert all(row["seamless"] for row in found)
    assert [row["after"] for row in found if row["holds"]] == [timedelta(microseconds=1)] * 2


async def test_an_edit_that_waits_for_another_edits_what_that_one_has_made(house, connect):
    await house.create(trigger={"cron": HOURLY})
    watcher, first, second = [await connect(at=house.now) for _ in range(3)]
    one, two = (Commands(connection=session, settings=house.settings) for session in (first, second))
    transaction = first.transaction()
    await transaction.start()
    await one.edit("s", whole({"trigger": {"cron": MINUTELY}}), ME)
    waiting = asyncio.create_task(two.edit("s", whole({"trigger": {"cron": DAILY}}), ME))
    await until_blocked(watcher, second)
    await transaction.commit()
    assert await waiting == 3


async def test_an_edit_that_waits_for_a_deletion_finds_nothing(house, connect):
    await house.create(trigger={"cron": HOURLY})
    watcher, first, second = [await connect(at=house.now) for _ in range(3)]
    one, two = (Commands(connection=session, settings=house.settings) for session in (first, second))
    transaction = first.transaction()
    await transaction.start()
    await one.delete("s", ME)
    waiting = asyncio.create_task(two.edit("s", whole({"trigger": {"cron": DAILY}}), ME))
    await until_blocked(watcher, second)
    await transaction.commit()
    with pytest.raises(NotFound):
        await waiting


@pytest.mark.parametrize("what", ["edit", "resume"])
async def test_what_is_promised_beyond_the_look_ahead_stays_promised(house, what):
    """Another node looks farther ahead, or the database's clock was set back: the window ends before the last promise."""
    house.turn("00:00:00.5")
    await house.create(trigger={"cron": "*/10 * * * * *"})
    await house.tick("00:00:25")
    assert await house.cursor() == "00:01:00"
    house.turn("00:00:11")
    if what == "edit":
        await house.edit(trigger={"cron": "*/5 * * * * *"})
    else:
        await house.pause()
        await house.resume()
    assert ("00:00:50", "waiting") in await house.places()
    assert await house.cursor() >= "00:00:55"
    for second in range(20, 60, 10):
        await house.tick(f"00:00:{second}")
    assert ("00:00:50", "waiting") in await house.places()
