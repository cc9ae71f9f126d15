"""Claims that meet other claims."""

from __future__ import annotations

import asyncio

import pytest

from detent.store import claiming, nodes
from tests.races.scene import again, claim, conclude, hand_back


# R-EXEC-1, R-PLAN-5
async def test_two_claims_share_waiting_rows_without_waiting_and_none_is_claimed_twice(scene, connect):
    first, second = await connect(), await connect()
    one, two = await scene.node(), await scene.node()
    schedules = [await scene.schedule() for _ in range(10)]
    for schedule in schedules:
        await scene.waits(schedule)
    async with first.transaction():
        mine = await claim(first, one, quota=6)
        theirs = await claim(second, two)  # does not wait
    assert len(mine) == 6
    assert len(theirs) == 4
    assert {c.schedule_id for c in mine} | {c.schedule_id for c in theirs} == {s.id for s in schedules}
    assert await scene.watcher.fetchval("select count(*) from detent.waiting") == 0


async def test_a_claim_that_rolls_back_leaves_its_rows_to_the_next(scene, connect):
    first, second = await connect(), await connect()
    node = await scene.node()
    await scene.waits(await scene.schedule())
    transaction = first.transaction()
    await transaction.start()
    assert len(await claim(first, node)) == 1
    assert await claim(second, node) == []
    await transaction.rollback()
    assert len(await claim(second, node)) == 1


# R-EXEC-6
async def test_of_two_claims_on_two_firings_of_one_seat_the_second_waits_and_is_refused(scene, connect):
    first, second = await connect(), await connect()
    node, other = await scene.node(), await scene.node()
    schedule = await scene.schedule()
    for ago in (3, 2):
        await scene.waits(schedule, ago=ago)
    async with first.transaction():
        assert len(await claim(first, node, quota=1)) == 1
        late = await scene.meets(second, claim(second, other), by=first)
    assert await late == []
    assert await scene.places(schedule) == {"running": 1, "waiting": 1}


async def test_a_claim_whose_rival_rolls_back_gets_the_seat(scene, connect):
    first, second = await connect(), await connect()
    node = await scene.node()
    schedule = await scene.schedule()
    for ago in (3, 2):
        await scene.waits(schedule, ago=ago)
    transaction = first.transaction()
    await transaction.start()
    await claim(first, node, quota=1)
    late = await scene.meets(second, claim(second, node), by=first)
    await transaction.rollback()
    assert len(await late) == 1
    assert await scene.places(schedule) == {"running": 1, "waiting": 1}


# R-EXEC-6
async def test_claims_that_meet_over_several_seats_never_take_more_than_there_are(scene, connect):
    first, second = await connect(), await connect()
    node, other = await scene.node(), await scene.node()
    schedule = await scene.schedule(seats=3, overlap="allow")
    for ago in range(9, 0, -1):
        await scene.waits(schedule, ago=ago)
    async with first.transaction():
        mine = await claim(first, node, quota=2)
        assert sorted(c.seat for c in mine) == [0, 1]
        late = await scene.meets(second, claim(second, other), by=first)
    theirs = await late
    assert [c.seat for c in theirs] == [2], "the third seat was free all the time"
    assert await claim(second, other) == []
    assert await scene.places(schedule) == {"running": 3, "waiting": 6}


async def test_firings_of_one_schedule_without_a_limit_are_claimed_side_by_side(scene, connect):
    first, second = await connect(), await connect()
    node = await scene.node()
    schedule = await scene.schedule(seats=0, overlap="allow")
    for ago in range(6, 0, -1):
        await scene.waits(schedule, ago=ago)
    async with first.transaction():
        assert len(await claim(first, node, quota=2)) == 2
        assert len(await claim(second, node)) == 4
    assert await scene.places(schedule) == {"running": 6}


# R-EXEC-4, R-EXEC-6
async def test_a_seat_that_rests_for_a_retry_is_refused_to_a_fresh_firing(scene, connect):
    session = await connect()
    node = await scene.node()
    schedule = await scene.schedule()
    tried = await scene.runs(schedule, node)
    await again(session, node, tried)
    await scene.waits(schedule, ago=0.5)
    (taken,) = await claim(session, node)
    assert (taken.scheduled_for, taken.seat, taken.number) == (tried.scheduled_for, tried.seat, 2)
    assert taken.volley > tried.volley
    assert await scene.places(schedule) == {"running": 1, "waiting": 1}


async def test_a_fresh_claim_that_waits_for_a_retry_to_be_claimed_is_refused(scene, connect):
    first, second = await connect(), await connect()
    node = await scene.node()
    schedule = await scene.schedule()
    tried = await scene.runs(schedule, node)
    async with first.transaction():
        await again(first, node, tried)
        # The seat is taken, whoever looks at it: nobody waits.
        await scene.waits(schedule, ago=0.5)
        assert await claim(second, node) == []
    async with first.transaction():
        assert [c.scheduled_for for c in await claim(first, node)] == [tried.scheduled_for]
        assert await claim(second, node) == []
    assert await scene.places(schedule) == {"running": 1, "waiting": 1}


async def test_two_claims_on_one_retry_make_one_attempt(scene, connect):
    first, second = await connect(), await connect()
    node, other = await scene.node(), await scene.node()
    schedule = await scene.schedule()
    await again(first, node, await scene.runs(schedule, node))
    async with first.transaction():
        assert len(await claim(first, node)) == 1
        assert await claim(second, other) == []
    assert await claim(second, other) == []
    assert await scene.places(schedule) == {"running": 1}


# R-EXEC-3
async def test_the_tokens_of_a_firing_only_grow_through_retries_and_hand_backs(scene, connect):
    session = await connect()
    node = await scene.node()
    schedule = await scene.schedule()
    claimed = await scene.runs(schedule, node)
    seen = [(claimed.number, claimed.volley)]
    for step in (again(session, node, claimed), None, None):
        await (step or hand_back(session, claimed))
        (claimed,) = await claim(session, node)
        seen.append((claimed.number, claimed.volley))
    assert seen == sorted(set(seen))
    assert [number for number, _ in seen] == [1, 2, 3, 4]
    assert await conclude(session, node, claimed) == 1


async def test_claims_that_meet_over_many_seats_of_many_schedules_wait_in_one_direction(scene, connect):
    """Each takes its seats in the order of schedules and seats, so neither can wait for the other in turn."""
    first, second = await connect(), await connect()
    node, other = await scene.node(), await scene.node()
    schedules = [await scene.schedule(seats=4, overlap="allow") for _ in range(20)]
    for schedule in schedules:
        for ago in range(12, 0, -1):
            await scene.waits(schedule, ago=ago)
    for _ in range(12):
        both = await asyncio.gather(claim(first, node, quota=77), claim(second, other, quota=91))
        for session, by, claimed in zip((first, second), (node, other), both, strict=True):
            for one in claimed:
                await conclude(session, by, one, wake=False)
            held = await scene.watcher.fetch("select count(*) from detent.running group by schedule_id")
            assert all(row[0] <= 4 for row in held)
    assert (
        await scene.watcher.fetchval(
            "select deadlocks from pg_stat_database where datname = current_database()"
        )
        == 0
    )


# R-EXEC-6
@pytest.mark.parametrize(("before", "after", "taken"), [(3, 1, 0), (4, 3, 1), (0, 1, 0), (0, 3, 1)])
async def test_firings_that_took_seats_before_an_edit_count_after_it(scene, connect, before, after, taken):
    """Seats 0 … are free, but those who run sit on higher ones: together they may not be more than the new number."""
    session = await connect()
    node = await scene.node()
    schedule = await scene.schedule(seats=before, overlap="allow")
    for ago in range(40, 40 - (before or 3), -1):
        await scene.waits(schedule, ago=ago)
    running = sorted(await claim(session, node), key=lambda c: c.seat)
    for one in running[: len(running) - (2 if after == 3 else 1)]:
        await conclude(session, node, one, wake=False)
    for ago in (4, 3, 2, 1):
        await scene.waits(schedule, ago=ago)
    await session.execute("update detent.timer set seats = $1", after)
    await session.execute("update detent.waiting set seats = $1", after)
    assert len(await claim(session, node)) == taken


# R-EXEC-2
async def test_a_claim_of_a_buried_node_claims_nothing(scene, connect):
    reaper, worker = await connect(), await connect()
    node = await scene.node()
    schedule = await scene.schedule()
    await scene.waits(schedule)
    async with reaper.transaction():
        await reaper.execute(
            "select from detent.node where id = $1 for update", node
        )  # as it begins a burial
        late = await scene.meets(worker, claim(worker, node), by=reaper)
        await nodes.bury_node(reaper, node)
    assert await late == []
    assert await scene.places(schedule) == {"waiting": 1}


# R-EXEC-9
async def test_claims_under_a_cap_come_one_after_the_other_and_the_count_is_exact(scene, connect):
    first, second = await connect(), await connect()
    node, other = await scene.node(), await scene.node()
    for _ in range(10):
        await scene.waits(await scene.schedule())

    async def capped(session, by, cap):
        async with session.transaction():
            await claiming.lock_caps(session, [7, 3])
            running = sum(n for _, _, n in await claiming.in_flight(session))
            return await claim(session, by, quota=max(0, cap - running))

    async with first.transaction():
        await claiming.lock_caps(first, [3, 7])
        assert len(await claim(first, node, quota=4)) == 4
        late = await scene.meets(second, capped(second, other, 6), by=first)
    assert len(await late) == 2
    assert await capped(second, other, 6) == []


async def test_locks_of_caps_are_taken_in_one_order(scene, connect):
    first, second = await connect(), await connect()
    async with first.transaction():
        await claiming.lock_caps(first, [1])
        late = await scene.meets(second, claiming.lock_caps(second, [2, 1]), by=first)
        await claiming.lock_caps(first, [2])  # the other holds nothing yet but waits for 1
    await late


# R-EXEC-1
async def test_many_claims_at_once_on_schedules_with_many_firings_each_share_the_seats_without_an_error(
    scene,
):
    """After an outage: each schedule has late firings, and all workers come for the same ones."""
    sessions = [await scene.connect() for _ in range(12)]
    node = await scene.node()
    schedules = [await scene.schedule(overlap="queue") for _ in range(20)]
    for schedule in schedules:
        for ago in range(14, 0, -1):
            await scene.waits(schedule, ago=ago)
    rival = await scene.connect()
    async with rival.transaction():
        (first,) = await claim(rival, node, quota=1)
        late = [await scene.meets(session, claim(session, node, quota=20)) for session in sessions]
    claimed = [first] + [one for each in await asyncio.gather(*late) for one in each]
    assert len(claimed) == len({one.schedule_id for one in claimed}) == 20
    assert await scene.deadlocks() == 0
