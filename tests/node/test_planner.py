"""The planner on real rows: look-ahead, misfires, catch-ups, what can't be read, and a backlog."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta

import asyncpg
import pytest

from detent import clock
from detent.commands.schedules import Conflict
from detent.node import planner
from detent.node.catch_up import CatchUp
from detent.node.pauses import Pauses
from detent.node.planner import Planner
from detent.observe.events import LagBreaker, LagOver, Planned, ScheduleParked
from detent.store import planning
from tests.house import MINUTE, SECOND, at

HOURLY = {"cron": "0 * * * *"}
DAILY = {"cron": "0 2 * * *"}


async def make(house, n, *, trigger=HOURLY, shard=None, **spec):
    """So many alike, in one shard if one is given."""
    for number in range(n):
        await house.create(name=f"s{number}", trigger=trigger, **spec)
    if shard is not None:
        await house.execute("update detent.timer set shard = $1", shard)


# R-PLAN-6, R-PLAN-1
async def test_only_what_lies_within_the_look_ahead_is_promised(house):
    await make(house, 3)
    before = await house.fetch("select xmin, * from detent.timer order by schedule_id")
    await house.tick("00:59:29.999")
    assert await house.value("select count(*) from detent.firing") == 0
    assert await house.fetch("select xmin, * from detent.timer order by schedule_id") == before, (
        "no row is touched"
    )
    await house.tick("00:59:30")
    assert await house.value("select count(*) from detent.firing") == 3
    assert await house.value("select count(distinct next_at) from detent.timer") == 1
    assert house.told_of(Planned) == [Planned(moved=3, promised=3, catch_ups=0)]


# R-PLAN-9
async def test_the_next_slot_is_known_while_the_last_one_still_waits(house):
    await house.create(trigger={"cron": "*/20 * * * * *"})
    for _ in range(6):
        await house.tick(20 * SECOND)
    assert len(await house.firings()) == 7
    assert await house.value("select count(*) from detent.waiting") == 7


# R-PLAN-7
@pytest.mark.parametrize(
    ("misfire", "fires", "omitted"),
    [
        ({}, ["05:00:00"], [("01:00:00", "05:00:00", "misfire", 4)]),
        ({"policy": "skip"}, [], [("01:00:00", "05:30:00", "misfire", 5)]),
        (
            {"policy": "fire_all", "cap": 2},
            ["04:00:00", "05:00:00"],
            [("01:00:00", "04:00:00", "misfire", 3)],
        ),
        (
            {"policy": "fire_all", "grace": "2h"},
            ["04:00:00", "05:00:00"],
            [("01:00:00", "03:30:00", "grace", 3)],
        ),
    ],
)
async def test_what_an_outage_left_behind_is_made_up_for_as_the_schedule_says(house, misfire, fires, omitted):
    await house.create(trigger=HOURLY, misfire=misfire)
    await house.tick("05:30:00")
    assert await house.firings() == [(slot, "catch_up") for slot in fires]
    assert await house.omissions() == omitted
    assert await house.value("select count(*) from detent.waiting where kind = 'catch_up'") == len(fires)
    assert await house.cursor() == "06:00:00"


async def test_an_outage_of_a_month_needs_partitions_of_long_ago(house):
    await house.create(trigger={"cron": "0 0 1 * *"}, misfire={"grace": "80d"})
    await house.tick("2026-04-20T00:00:00Z")
    assert await house.firings() == [("2026-04-01 00:00:00", "catch_up")]


# R-PLAN-5, R-PLAN-7
@pytest.mark.parametrize("seed", range(3))
async def test_next_at_only_moves_forward_whatever_happens(house, seed):
    chance = random.Random(seed)
    triggers = [
        {"cron": "*/15 * * * * *"},
        {"every": "7s"},
        {"cron": "* * * * *", "exclude": {"weekly": [{"from": "00:05", "to": "00:07"}]}},
    ]
    for n, trigger in enumerate(triggers):
        await house.create(
            name=f"s{n}",
            trigger=trigger,
            misfire={"policy": chance.choice(["skip", "fire_all", "fire_latest"])},
        )
    seen = {}
    for _ in range(30):
        await house.tick(timedelta(seconds=chance.choice([0.3, 1, 5, 29, 31, 70])))
        for row in await house.fetch("select schedule_id, next_at from detent.timer"):
            assert row["next_at"] >= seen.get(row["schedule_id"], at("00:00:00"))
            assert row["next_at"] > house.now
            seen[row["schedule_id"]] = row["next_at"]


async def test_jitter_is_the_same_on_every_node_and_never_moves_the_slot(house):
    await make(house, 40, trigger={"cron": "0 * * * *"}, jitter="10m")
    await house.tick("00:59:45")
    rows = await house.fetch("select scheduled_for, due_at from detent.firing")
    assert {row["scheduled_for"] for row in rows} == {at("01:00:00")}
    due = [row["due_at"] for row in rows]
    assert at("01:00:00") <= min(due) < max(due) < at("01:10:00")
    assert max(due) - min(due) > 5 * MINUTE


# Catch-ups


async def late(house, n, **spec):
    """So many schedules of one shard whose 01:00 nobody planned."""
    await make(house, n, shard=3, **spec)
    await house.tick("01:30:00")
    rows = await house.fetch("select due_at from detent.waiting order by due_at")
    return [(row["due_at"] - house.now).total_seconds() for row in rows]


# R-PLAN-8
async def test_catch_ups_of_a_shard_are_spaced_at_twice_its_normal_rate(house):
    """A shard whose rate nobody knows yet is taken for one a second."""
    assert await late(house, 5) == [0.0, 0.5, 1.0, 1.5, 2.0]


# R-PLAN-8
async def test_what_is_normal_is_remembered_for_the_next_planner(house):
    await house.execute("update detent.catch_up set rate = 10")
    assert await late(house, 5) == [0.0, 0.05, 0.1, 0.15, 0.2]
    successor = Planner(house.pool, house.lease, house.shards, house.settings, house.events)
    await house.create(name="another", trigger=HOURLY)
    await house.execute(
        "update detent.timer t set shard = 3, next_at = $1 where schedule_id = 6", at("01:00:00")
    )
    await successor.tick()
    last = await house.value("select due_at - $1 from detent.waiting where schedule_id = 6", house.now)
    assert last == timedelta(seconds=0.25), "it goes on behind the cursor of the one before"
    for table in ("waiting", "firing", "revision", "timer"):
        await house.execute(
            f"delete from detent.{table} where schedule_id = 6"
        )  # it was late before it was made
    await house.execute("delete from detent.schedule where id = 6")


async def test_fresh_slots_are_not_put_off_by_what_is_late(house):
    await late(house, 20, trigger={"cron": "0,30 * * * *"})
    assert await house.value("select max(due_at) from detent.waiting where kind is null") == at("01:30:00")


async def test_late_firings_are_spaced_in_one_shard_and_at_once_in_others(house):
    await make(house, 10)
    await house.tick("01:30:00")
    assert await house.value("select count(distinct due_at) from detent.waiting") == 1


async def test_tries_that_fail_put_nothing_off(house, monkeypatch):
    await make(house, 4, shard=3)
    house.turn("01:30:00")
    plan = planning.plan

    async def refuse(*arguments):
        await plan(*arguments)
        raise asyncpg.QueryCanceledError("too slow")

    with monkeypatch.context() as broken:
        broken.setattr(planning, "plan", refuse)
        for _ in range(3):
            with pytest.raises(ExceptionGroup):
                await house.planner.tick()
    await house.tick()
    rows = await house.fetch("select due_at from detent.waiting order by due_at")
    assert [(row["due_at"] - house.now).total_seconds() for row in rows] == [0.0, 0.5, 1.0, 1.5]


async def test_a_rate_is_learned_from_a_minute_of_fresh_slots(house, monkeypatch):
    passed = [0.0]
    monkeypatch.setattr(clock, "monotonic", lambda: 1_000.0 + passed[0])
    catch_up = CatchUp()
    async with house.pool.acquire() as connection:
        passed[0] = 59.0
        catch_up.promised([3] * 600)
        await catch_up.learn(connection, house.lease.id, [3])
        assert await house.value("select rate from detent.catch_up where shard = 3") == 0
        passed[0] = 60.0
        await catch_up.learn(connection, house.lease.id, [3])
        assert await house.value("select rate from detent.catch_up where shard = 3") == 10
        passed[0] = 90.0
        catch_up.forget()  # shards changed hands: what is seen from here on is of another half minute
        catch_up.promised([3] * 600)
        passed[0] = 120.0
        await catch_up.learn(connection, house.lease.id, [3])
        assert await house.value("select rate from detent.catch_up where shard = 3") == 10
        passed[0] = 150.0
        await catch_up.learn(connection, house.lease.id, [3])
        assert await house.value("select rate from detent.catch_up where shard = 3") == 10, (
            "half old, half new: 10 and 10"
        )


# R-PLAN-8
async def test_what_is_overdue_does_not_keep_waiting_what_is_fresh_and_the_alarm_sounds_once(
    house, monkeypatch
):
    monkeypatch.setattr(planner, "_LEAST_EACH", 2)
    monkeypatch.setattr(planner, "MOST", 2)
    await make(house, 10)
    for name in ("daily", "too"):
        await house.create(name=name, trigger=DAILY)
    await house.execute("update detent.timer set shard = 3")
    house.turn("01:59:45")  # ten of them have missed 01:00
    await house.planner.tick()
    firings = await house.fetch("select schedule_id, scheduled_for from detent.firing order by 1, 2")
    fresh = [row["schedule_id"] for row in firings if row["scheduled_for"] == at("02:00:00")]
    assert {11, 12} <= set(fresh), "what is to come goes first"
    assert len(house.told_of(LagBreaker)) == 1
    await house.plan()
    assert (
        await house.value("select count(*) from detent.firing where scheduled_for = $1", at("02:00:00")) == 12
    )
    assert (len(house.told_of(LagBreaker)), len(house.told_of(LagOver))) == (1, 1), "once each"


# Rows that can't be read

DEEP = "[" * 200_000
POISON = ["", "{", "null", "[]", "7", '"x"', "{}", '{"triggers": []}', '{"triggers": [{"cron": "61 * * * *"}]}',
          '{"triggers": [{"cron": "* * * * *", "timezone": "Mars/Olympus"}]}', '{"triggers": {"cron": "* * * * *"}}',
          '{"triggers": [{"cron": "* * * * *"}], "max_firings": "many"}', '{"triggers": [{"cron": 7}], "identity": 7}',
          '{"triggers": [{"cron": "* * * * *"}], "misfire": 5}', '{"triggers": [{"every": "1e999s"}]}', DEEP]  # fmt: skip


# R-PLAN-1
@pytest.mark.parametrize("text", POISON, ids=lambda text: text[:30] or "empty")
async def test_a_schedule_that_can_not_be_read_is_parked_and_told_of_and_stops_nobody(house, text):
    await house.create(name="bad", trigger=HOURLY)
    await house.create(name="good", trigger=HOURLY)
    await house.execute("update detent.schedule set cadence = $1 where name = 'bad'", text)
    await house.tick("00:59:45")
    assert await house.firings("good") == [("01:00:00", "slot")]
    assert await house.firings("bad") == []
    (parked,) = house.told_of(ScheduleParked)
    row = (await house.fetch("select id, status, status_reason from detent.schedule where name = 'bad'"))[0]
    assert (row["id"], row["status"], row["status_reason"]) == (parked.schedule_id, "parked", parked.error)
    assert parked.error
    await house.tick("01:59:45")
    assert len(house.told_of(ScheduleParked)) == 1, "once"
    await house.edit(name="bad", trigger=HOURLY)  # what a person can do about it
    assert await house.value("select status from detent.schedule where name = 'bad'") == "active"
    assert await house.omissions("bad") == [("01:00:00", "01:59:45.000001", "parked", None)]
    await house.tick()
    assert await house.firings("bad") == [("02:00:00", "slot")]


async def test_what_nobody_parked_yet_can_be_edited_paused_and_deleted_all_the_same(house):
    for name in ("edited", "paused", "deleted"):
        await house.create(name=name, trigger=HOURLY)
    await house.execute("update detent.schedule set cadence = '{'")
    house.turn("01:30:00")
    await house.edit(name="edited", trigger=HOURLY)
    await house.pause("paused")
    await house.act("delete", "deleted")
    with pytest.raises(Conflict, match="can't be read: edit it"):
        await house.resume("paused")
    for name in ("edited", "paused", "deleted"):
        assert [omission[2] for omission in await house.omissions(name)] == ["parked"]


async def test_a_parked_schedule_goes_on_once_it_can_be_read(house):
    await house.create(trigger=HOURLY)
    text = await house.value("select cadence from detent.schedule")
    await house.execute("update detent.schedule set cadence = '{'")
    await house.tick("00:59:45")
    await house.execute("update detent.schedule set cadence = $1", text)
    house.turn("03:30:00")
    await house.resume()
    await house.tick("03:59:45")
    assert await house.omissions() == [("01:00:00", "03:30:00", "parked", 3)]
    assert await house.firings() == [("04:00:00", "slot")]


async def test_a_pause_that_ends_parks_what_can_not_be_read_and_the_others_go_on(house):
    for name in ("a", "bad", "z"):
        await house.create(name=name, trigger=HOURLY)
        await house.pause(name, until=at("00:30:00"))
    await house.execute("update detent.schedule set cadence = '{' where name = 'bad'")
    house.turn("00:30:01")
    pauses = Pauses(house.pool, house.settings, house.events)
    await pauses.tick()
    rows = await house.fetch("select name, status from detent.schedule order by name")
    assert [tuple(row) for row in rows] == [("a", "active"), ("bad", "parked"), ("z", "active")]
    assert len(house.told_of(ScheduleParked)) == 1
    await house.execute(
        "update detent.schedule set cadence = (select cadence from detent.schedule where name = 'a')"
    )


@pytest.mark.parametrize("instant", ["infinity", "-infinity", "10000-01-01Z", "1899-12-31Z", "2200-01-01Z"])
@pytest.mark.parametrize("where", ["timer set next_at", "schedule set paused_until"])
async def test_instants_that_a_driver_can_not_decode_are_refused_by_the_database(house, instant, where):
    await house.create(trigger=HOURLY)
    with pytest.raises(asyncpg.CheckViolationError, match="an instant lies between 1900 and 2200"):
        await house.execute(f"update detent.{where} = '{instant}'")


async def test_what_is_excluded_is_on_record_as_its_time_comes(house):
    await house.create(trigger=HOURLY | {"exclude": {"weekly": [{"from": "01:00", "to": "03:00"}]}})
    for hour in (0, 1, 2, 3):
        await house.tick(at("00:59:45") + hour * 60 * MINUTE)
    assert await house.firings() == [("03:00:00", "slot"), ("04:00:00", "slot")]
    assert [omission[:3] for omission in await house.omissions()] == [
        ("01:00:00", "01:00:00.001", "excluded"), ("02:00:00", "02:00:00.001", "excluded"),
    ]  # fmt: skip


async def test_a_limit_of_firings_holds_over_many_ticks(house):
    await house.create(trigger={"every": "20s"}, max_firings=5)
    for _ in range(10):
        await house.tick(20 * SECOND)
    assert len(await house.firings()) == 5
    assert await house.value("select active from detent.timer") is False


# R-EXEC-10
async def test_what_is_not_started_in_time_is_missed_though_no_worker_is_there(house):
    await house.create(trigger=HOURLY, start_deadline="30s", pool="nobody")
    await house.tick("00:59:45")
    await house.tick("01:00:29")
    assert await house.places() == [("01:00:00", "waiting")]
    await house.tick("01:00:30")
    assert await house.places() == [("01:00:00", "missed: start_deadline")]


async def test_a_planner_without_a_lease_or_shards_plans_nothing(house):
    await house.create(trigger=HOURLY)
    house.turn("00:59:45")
    held, house.shards.held = house.shards.held, {}
    assert not await house.planner.tick()
    house.shards.held = held
    deadline, house.lease.deadline = house.lease.deadline, 0.0
    assert not await house.planner.tick()
    assert await house.firings() == []
    house.lease.deadline = deadline
    await house.plan()
    assert await house.firings() == [("01:00:00", "slot")]


async def test_two_planners_who_see_the_same_plan_it_once(house):
    """They think that both hold all shards: the database knows better, and a timer moves once."""
    await make(house, 50)
    house.turn("00:59:45")
    other = Planner(house.pool, house.lease, house.shards, house.settings, house.events)
    await asyncio.gather(house.planner.tick(), other.tick())
    assert await house.value("select count(*) from detent.firing") == 50
    assert await house.value("select sum(fired_count) from detent.timer") == 50
