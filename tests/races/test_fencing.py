"""Planners meet over shards: a take-over, and what the former holder still writes.

The write holds the rows of its shards FOR SHARE until it commits, and a take-over changes them. A check that doesn't lock
doesn't fence: a zombie that passed it would commit after the take-over.
"""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from detent.store import nodes, planning
from detent.store.planning import CatchUpCursor
from tests.races.scene import LONG_AGO, WORK
from tests.races.witness import call_witnesses

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
CADENCE = '{"triggers":[{"every":"10s","start_at":"2026-03-01T00:00:00Z"}]}'


@pytest.fixture
async def due(scene):
    """A schedule in shard 7 whose next slot is due within the look-ahead."""
    schedule = await scene.schedule(next_at=NOON, shard=7)
    await scene.watcher.execute("update detent.schedule set cadence = $1, work = $2", CADENCE, WORK)
    return schedule


async def planned(scene):
    rows = await scene.watcher.fetch("select epoch, count(*)::int from detent.firing group by 1 order by 1")
    return [tuple(row) for row in rows]


# R-PLAN-3
async def test_a_take_over_leaves_a_shard_to_a_holder_who_is_writing_until_he_has_committed(scene, due):
    first, second = await scene.planner(at=NOON), await scene.planner(at=NOON)
    await first.take([7])
    moves = await first.look()
    await scene.expire(first.node, LONG_AGO)
    async with first.session.transaction():
        assert (await first.write(moves)).moved == 1
        assert await second.take([7]) == {}  # doesn't wait for him
    assert await second.take([7]) == {7: 2}
    assert (await second.plan()).moved == 0, "he was first: nothing is left"
    assert await planned(scene) == [(1, 4)]


# R-PLAN-3
async def test_a_zombie_that_waits_for_the_take_over_writes_nothing(scene, due):
    zombie, second = await scene.planner(at=NOON), await scene.planner(at=NOON)
    await zombie.take([7])
    moves = await zombie.look()
    await scene.expire(zombie.node, LONG_AGO)
    async with second.session.transaction():
        assert await second.take([7]) == {7: 2}
        late = await scene.meets(zombie.session, zombie.write(moves), by=second.session)
    assert await late == (0, 0)
    assert (await second.plan()).moved == 1
    assert await planned(scene) == [(2, 4)]


async def test_a_zombie_that_writes_after_the_take_over_writes_nothing(scene, due):
    zombie, second = await scene.planner(at=NOON), await scene.planner(at=NOON)
    await zombie.take([7])
    moves = await zombie.look()
    await scene.expire(zombie.node, LONG_AGO)
    await second.take([7])
    assert await zombie.write(moves) == (0, 0)
    assert await planned(scene) == []
    assert (await second.plan()).moved == 1


async def test_a_zombie_that_got_its_shard_back_writes_nothing_under_the_old_epoch(scene, due):
    zombie, second = await scene.planner(at=NOON), await scene.planner(at=NOON)
    await zombie.take([7])
    moves = await zombie.look()
    before = dict(zombie.epochs)
    await nodes.give_shards(zombie.session, zombie.node, [7])
    await second.take([7])
    await nodes.give_shards(second.session, second.node, [7])
    assert await zombie.take([7]) == {7: 3}
    zombie.epochs = before
    assert await zombie.write(moves) == (0, 0)


# R-PLAN-3, R-PLAN-11
async def test_a_zombie_that_stopped_inside_its_transaction_is_ended_and_the_take_over_goes_on(scene, due):
    zombie, second = await scene.planner(at=NOON), await scene.planner(at=NOON)
    assert timedelta(0) < await scene.idle_limit(zombie.session) < timedelta(seconds=10), "below a lease"
    await zombie.session.execute("set idle_in_transaction_session_timeout = '200ms'")
    await zombie.take([7])
    moves = await zombie.look()
    await scene.expire(zombie.node, LONG_AGO)
    await zombie.session.execute("begin")
    assert (await zombie.write(moves)).moved == 1
    burial = await scene.meets(
        second.session, nodes.give_shards(second.session, zombie.node, [7]), by=zombie.session
    )
    assert await burial == [7]
    assert await second.take([7]) == {7: 2}
    with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)):
        await zombie.session.execute("commit")
    assert await planned(scene) == []
    assert (await second.plan()).moved == 1


async def test_two_take_overs_share_what_is_free_and_wait_for_nobody(scene):
    first, second = await scene.planner(), await scene.planner()
    async with first.session.transaction():
        assert sorted(await first.take([5, 3, 4])) == [3, 4, 5]
        assert sorted(await second.take([6, 5, 4])) == [6]
    assert await second.take([3, 4, 5]) == {}, "they have a holder, and he lives"
    assert await scene.watcher.fetchval("select max(epoch) from detent.shard") == 1


async def test_a_take_over_that_is_rolled_back_leaves_epoch_and_holder(scene, due):
    first, second = await scene.planner(at=NOON), await scene.planner(at=NOON)
    await first.take([7])
    await scene.expire(first.node, LONG_AGO)
    transaction = second.session.transaction()
    await transaction.start()
    await second.take([7])
    late = await scene.meets(first.session, first.plan(), by=second.session)
    await transaction.rollback()
    assert (await late).moved == 1
    assert await planned(scene) == [(1, 4)]


# R-PLAN-2
async def test_shards_given_away_while_they_are_planned_go_when_that_is_written(scene, due):
    first, second = await scene.planner(at=NOON), await scene.planner(at=NOON)
    await first.take([7])
    moves, other = await first.look(), await scene.connect()
    async with first.session.transaction():
        await first.write(moves)
        late = await scene.meets(other, nodes.give_shards(other, first.node, [7]), by=first.session)
        assert await second.take([7]) == {}
    assert await late == [7]
    assert await second.take([7]) == {7: 2}


async def test_a_plan_that_waits_for_shards_to_be_given_away_writes_nothing_of_them(scene, due):
    first = await scene.planner(at=NOON)
    await first.take([6, 7])
    moves, other = await first.look(), await scene.connect()
    async with other.transaction():
        await nodes.give_shards(other, first.node, [7])
        late = await scene.meets(first.session, first.write(moves), by=other)
    assert await late == (0, 0)


@pytest.mark.parametrize("move", ["give", "leave", "bury"])
async def test_planning_and_giving_away_take_shards_in_one_order(scene, move):
    """One waits in the middle; the other, whatever order it was asked in, waits for the first row of both."""
    planner, blocker, other = await scene.planner(), await scene.connect(), await scene.connect()
    await planner.take(range(1, 10))
    planner.epochs = dict(sorted(planner.epochs.items(), reverse=True))
    await blocker.execute(
        "update detent.shard set epoch = epoch where id < 3"
    )  # they lie behind the others now
    gives = {
        "give": lambda: nodes.give_shards(other, planner.node, [9, 1, 7, 5]),
        "leave": lambda: nodes.leave(other, planner.node),
        "bury": lambda: nodes.bury_node(other, planner.node),
    }[move]
    async with blocker.transaction():
        await blocker.execute("select from detent.shard where id = 5 for update")
        giving = await scene.meets(other, gives(), by=blocker)
        planning_ = await scene.meets(planner.session, planner.plan(), by=other)
    await asyncio.gather(giving, planning_)
    assert await scene.deadlocks() == 0


async def test_a_zombie_does_not_park_what_its_successor_can_read(scene, due):
    zombie, second = await scene.planner(at=NOON), await scene.planner(at=NOON)
    await zombie.take([7])
    await scene.expire(zombie.node, LONG_AGO)
    async with second.session.transaction():
        await second.take([7])
        late = await scene.meets(
            zombie.session, planning.hold_shard(zombie.session, 7, zombie.node, 1), by=second.session
        )
    assert await late is False


async def test_a_take_over_leaves_a_shard_to_who_parks_a_schedule_of_it(scene, due):
    first, second = await scene.planner(at=NOON), await scene.planner(at=NOON)
    await first.take([7])
    await scene.expire(first.node, LONG_AGO)
    async with first.session.transaction():
        assert await planning.hold_shard(first.session, 7, first.node, 1)
        await planning.park(first.session, due.id, 1, "unreadable")
        assert await second.take([7]) == {}
    assert await second.take([7]) == {7: 2}
    assert await second.due() == []


# R-PLAN-8
async def test_catch_up_cursors_move_forward_only_and_only_for_the_holder(scene):
    zombie, second = await scene.planner(), await scene.planner()
    await zombie.take([7, 8])
    now = await planning.now(scene.watcher)
    near, far = now + timedelta(seconds=5), now + timedelta(seconds=50)
    await planning.move_catch_up(
        zombie.session, zombie.node, [CatchUpCursor(8, near, 1.0), CatchUpCursor(7, near, 1.0)]
    )
    await scene.expire(zombie.node, LONG_AGO)
    await second.take([7])
    await planning.move_catch_up(
        zombie.session, zombie.node, [CatchUpCursor(7, far, 9.0), CatchUpCursor(8, far, 9.0)]
    )
    await planning.move_catch_up(second.session, second.node, [CatchUpCursor(7, now, 2.0)])
    rows = await planning.catch_up_cursors(scene.watcher, [7, 8])
    assert {(row.shard, row.cursor, row.rate) for row in rows} == {(7, near, 2.0), (8, far, 9.0)}


async def test_catch_up_cursors_are_taken_in_one_order(scene):
    """Two holders of other shards than each other thinks: they may meet on two rows."""
    first, blocker, other = await scene.planner(), await scene.connect(), await scene.connect()
    await first.take(range(1, 10))
    now = await planning.now(scene.watcher)
    upwards = [CatchUpCursor(shard, now, 1.0) for shard in range(1, 10)]
    async with blocker.transaction():
        await blocker.execute("select from detent.catch_up where shard = 5 for update")
        one = await scene.meets(other, planning.move_catch_up(other, first.node, upwards), by=blocker)
        two = await scene.meets(
            first.session, planning.move_catch_up(first.session, first.node, upwards[::-1]), by=other
        )
    await asyncio.gather(one, two)
    assert await scene.deadlocks() == 0


# R-PLAN-3
async def test_no_firing_is_ever_committed_under_an_epoch_that_has_passed(scene):
    """S2, by a witness in the database: at commit, each firing's epoch is its shard's."""
    await call_witnesses(scene.watcher)
    seed = random.Random(7)
    turned = await scene.connect(at=NOON - timedelta(days=1))
    planners = [await scene.planner(at=NOON) for _ in range(3)]
    for shard in range(4):
        await scene.schedule(next_at=NOON, shard=shard)
    await scene.watcher.execute("update detent.schedule set cadence = $1", CADENCE)

    async def plans(planner):
        for _ in range(5):
            moves = await planner.look() if planner.epochs else None
            if moves is not None:
                async with planner.session.transaction():
                    await planner.write(moves)
                    for _ in range(seed.randrange(10)):
                        await planner.session.execute("select")

    async def deals(planner, session):
        for _ in range(10):
            given = [shard for shard in planner.epochs if seed.random() < 0.7]
            await nodes.give_shards(session, planner.node, given)
            planner.epochs |= await nodes.take_shards(session, planner.node, seed.sample(range(4), 2))

    dealing = [await scene.connect(at=NOON) for _ in planners]
    for _ in range(20):
        await turned.execute(
            "update detent.timer set next_at = next_at - interval '30 s' where next_at > $1", NOON
        )
        await scene.watcher.execute("delete from detent.waiting; delete from detent.firing")
        await asyncio.gather(
            *[plans(planner) for planner in planners],
            *[deals(planner, session) for planner, session in zip(planners, dealing, strict=True)],
        )
    assert await scene.deadlocks() == 0
