"""Creating, triggering, deleting: each plans its own window in its own transaction."""

from __future__ import annotations

from datetime import timedelta

import pytest

from detent.commands.schedules import Actor, Conflict, NotFound
from detent.domain.errors import SpecError
from detent.domain.plan import Kind
from detent.store import schedules
from tests.house import ME, at, whole

HOURLY = "0 * * * *"


# R-PLAN-1, R-PLAN-6
async def test_a_one_off_due_in_100_ms_waits_as_soon_as_it_is_created(house):
    """No tick of a planner has part in it."""
    await house.create(trigger={"at": "2026-03-01T00:00:00.100Z"})
    rows = await house.fetch("select due_at from detent.waiting")
    assert [row["due_at"] for row in rows] == [at("00:00:00.100")]
    assert await house.cursor() is None


async def test_a_one_off_after_a_delay(house):
    await house.create(trigger={"at": "in 10s"})
    assert await house.firings() == [("00:00:10", "slot")]


async def test_a_one_off_that_passed_on_its_way_here_fires_at_once(house):
    """A request was slow, or a client's clock is behind."""
    await house.create(trigger={"at": "2026-02-28T23:59:58Z"})
    assert await house.firings() == [("2026-02-28 23:59:58", "catch_up")]
    assert await house.value("select due_at from detent.waiting") == house.now


async def test_a_one_off_at_this_very_instant_fires(house):
    await house.create(trigger={"at": "2026-03-01T00:00:00Z"})
    assert await house.firings() == [("00:00:00", "slot")]


async def test_a_one_off_that_passed_is_missed_if_its_policy_says_so(house):
    await house.create(trigger={"at": "2026-02-28T23:59:58Z"}, misfire={"policy": "skip"})
    assert await house.firings() == []
    assert await house.omissions() == [("2026-02-28 23:59:58", "00:00:00", "misfire", 1)]


async def test_a_one_off_that_fired_does_not_fire_again_when_it_is_edited(house):
    await house.create(trigger={"at": "2026-03-01T00:00:10Z"}, misfire={"policy": "skip"})
    await house.tick("00:10:00")
    await house.edit(trigger={"at": "2026-03-01T00:00:10Z"}, payload={"n": 2})
    assert await house.firings() == [("00:00:10", "slot")]
    await house.edit(trigger={"at": "2026-03-01T00:09:59Z"})
    assert await house.firings() == [("00:00:10", "slot"), ("00:09:59", "catch_up")]


@pytest.mark.parametrize("trigger", [{"cron": "* * * * *"}, {"every": "1m"}])
@pytest.mark.parametrize("moment", ["00:00:00", "00:00:00.000400", "00:00:00.500"])
async def test_nothing_fires_for_the_moment_of_its_creation(house, trigger, moment):
    """Whether a schedule is made on a whole millisecond, or on a slot of its own, is chance."""
    house.turn(moment)
    await house.create(trigger=trigger)
    assert await house.firings() == []
    await house.tick("00:00:45")
    assert len(await house.firings()) == 1


async def test_a_name_is_taken_once_in_a_tenant_and_free_again_after_a_deletion(house):
    await house.create(trigger={"cron": HOURLY})
    with pytest.raises(Conflict, match='already a schedule "s"'):
        await house.create(trigger={"cron": HOURLY})
    await house.act("delete", "s")
    await house.create(trigger={"cron": HOURLY})


async def test_a_refused_schedule_leaves_nothing_behind(house):
    with pytest.raises(SpecError):
        await house.create(trigger={"cron": "61 * * * *"})
    for table in ("schedule", "revision", "timer"):
        assert await house.value(f"select count(*) from detent.{table}") == 0


async def test_there_are_no_schedules_of_unknown_tenants(house):
    stranger = Actor(by="eve", tenant="nobody")
    with pytest.raises(NotFound, match='no tenant "nobody"'):
        await house.act("create", whole({"trigger": {"cron": HOURLY}}), actor=stranger)
    await house.create(trigger={"cron": HOURLY})
    await house.execute("insert into detent.tenant (name) values ('other')")
    for verb in ("pause", "resume", "delete", "trigger"):
        with pytest.raises(NotFound):
            await house.act(verb, "s", actor=Actor(by="eve", tenant="other"))


# R-TIME-7
async def test_each_tenant_has_its_minimum_interval(house):
    async with house.pool.acquire() as connection:
        await schedules.set_min_interval(connection, "default", timedelta(minutes=1))
        await connection.execute("insert into detent.tenant (name, min_interval) values ('quick', '1 s')")
    with pytest.raises(SpecError, match="minimum interval is 1 minute") as refused:
        await house.create(trigger={"every": "30s"})
    assert refused.value.code == "too_often"
    await house.act("create", whole({"trigger": {"every": "30s"}}), actor=Actor(by="bob", tenant="quick"))
    with pytest.raises(SpecError, match="too often|minimum interval"):
        await house.create(triggers=[{"cron": "* * * * *"}, {"cron": "30 * * * * *"}])
    await house.create(trigger={"cron": "* * * * *"})
    with pytest.raises(SpecError, match="minimum interval"):
        await house.edit(trigger={"cron": "* * * * * *"})


# R-TIME-6
async def test_jitter_and_windows_move_when_it_is_due_and_never_what_it_is(house):
    await house.create(trigger={"cron": "*/20 * * * * *"}, jitter="5s", window="4s")
    rows = await house.fetch("select f.scheduled_for, f.due_at, w.due_at as waits from detent.firing f"
                             " join detent.waiting w using (schedule_id, scheduled_for)")  # fmt: skip
    assert [row["scheduled_for"] for row in rows] == [at("00:00:20")]
    for row in rows:
        assert at("00:00:20") <= row["due_at"] < at("00:00:29.001")
        assert row["due_at"] == row["waits"]
    house.turn("00:00:05")
    await house.edit(trigger={"cron": "*/20 * * * * *"}, jitter="5s", window="4s")
    again = await house.value("select due_at from detent.firing")
    assert again == rows[0]["due_at"], "by a stable hash, not by chance"


# R-EXEC-10
async def test_a_start_deadline_counts_from_when_it_is_due(house):
    await house.create(trigger={"cron": "*/20 * * * * *"}, jitter="5s", start_deadline="30s")
    row = (await house.fetch("select due_at, expires_at from detent.waiting"))[0]
    assert row["expires_at"] - row["due_at"] == timedelta(seconds=30)


# R-API-1
async def test_a_trigger_fires_beside_the_slots_with_a_key_that_no_slot_can_have(house):
    await house.create(trigger={"cron": HOURLY})
    house.turn("01:00:00")
    when = await house.act("trigger", "s")
    assert when == at("01:00:00") + timedelta.resolution
    await house.tick()
    assert await house.firings() == [("01:00:00", "slot"), ("01:00:00.000001", Kind.MANUAL)]
    again = await house.act("trigger", "s")
    assert again == when + timedelta.resolution, "two in one microsecond are two"
    assert await house.value("select fired_count from detent.timer") == 1, "it isn't one of the cadence"


async def test_a_trigger_in_the_last_microsecond_of_a_millisecond_steps_over_the_next_one(house):
    await house.create(trigger={"cron": HOURLY})
    house.turn("00:00:00.000999")
    keys = [await house.act("trigger", "s") for _ in range(3)]
    assert [key.microsecond for key in keys] == [999, 1001, 1002]


async def test_a_paused_schedule_can_be_triggered_by_hand(house):
    await house.create(trigger={"cron": HOURLY})
    await house.pause()
    await house.act("trigger", "s")
    assert await house.places() == [("00:00:00.000001", "waiting")]


async def test_an_edit_does_not_withhold_what_was_triggered_by_hand(house):
    await house.create(trigger={"cron": HOURLY})
    await house.act("trigger", "s")
    await house.edit(trigger={"cron": "5 5 * * *"})
    assert await house.places() == [("00:00:00.000001", "waiting")]


async def test_what_waits_of_a_deleted_schedule_ends_as_withdrawn_and_its_history_stays(house):
    await house.create(trigger={"cron": "*/10 * * * * *"})
    house.turn("00:00:15")
    await house.act("delete", "s")
    await house.tick()
    assert await house.places() == [
        ("00:00:10", "withdrawn: deleted"), ("00:00:20", "held: deleted"), ("00:00:30", "held: deleted"),
    ]  # fmt: skip
    await house.tick("01:00:00")
    assert {place for _, place in await house.places()} == {"withdrawn: deleted"}
    for verb in ("pause", "resume", "delete", "trigger"):
        with pytest.raises(NotFound):
            await house.act(verb, "s")


# R-API-1
async def test_a_declaration_is_made_once_edited_when_it_changes_and_else_left_alone(house):
    spec = whole({"trigger": {"cron": HOURLY}})
    assert await house.act("declare", spec, origin="shop")
    assert not await house.act("declare", spec, origin="shop")
    house.turn("00:30:00")
    assert await house.act("declare", whole({"trigger": {"cron": "5 * * * *"}}), origin="shop")
    assert await house.value("select count(*) from detent.revision") == 2
    assert await house.cursor() == "01:05:00"


async def test_who_did_it_and_why_is_on_record(house):
    await house.act("create", whole({"trigger": {"cron": HOURLY}}), actor=Actor(by="ada", reason="ticket 7"))
    row = (await house.fetch("select by, reason, spec->>'name' as name from detent.revision"))[0]
    assert tuple(row) == ("ada", "ticket 7", "s")
    assert ME.by == "ada"
