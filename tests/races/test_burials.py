"""The burial of a node meets what its zombie still does, its heartbeat, and other reapers.

Whoever deletes the running row owns the decision: a zombie's conclusion that is first has won, one that comes later finds
nothing. Neither waits for the other while it holds something that the other wants.
"""

from __future__ import annotations

import pytest

from detent.node import reaper as reaping
from detent.node.reaper import Reaper
from detent.observe.events import Events
from detent.store import claiming, concluding, nodes
from tests.races.scene import Only, again, brought, claim, conclude, hand_back

TTL = 10.0


@pytest.fixture
async def dead(scene):
    """A node whose lease is over, its schedules, what it runs, and the session that it still has."""
    zombie, node = await scene.connect(), await scene.node()
    schedules = [await scene.schedule() for _ in range(2)]
    running = [await scene.runs(schedule, node) for schedule in schedules]
    await scene.expire(node)
    return zombie, node, schedules, running


@pytest.fixture
async def reaper(scene):
    session = await scene.connect()
    return session, Reaper(Only(session), Events(lambda _: None))


async def known(scene, node):
    return await scene.watcher.fetchval("select count(*) from detent.node where id = $1", node) == 1


# R-EXEC-2, R-EXEC-3
async def test_what_a_zombie_concludes_before_the_burial_counts_and_the_rest_is_lost(scene, dead, reaper):
    zombie, node, (first, second), (one, two) = dead
    _, buries = reaper
    async with zombie.transaction():
        assert await conclude(zombie, node, one) == 1
        assert await buries.tick() is True  # doesn't wait for the zombie
        assert await known(scene, node), "the zombie may still give up its conclusion"
        assert await scene.places(second) == {"waiting": 1, "resting": 1}
    await buries.tick()
    assert not await known(scene, node)
    assert await scene.outcomes(first) == [(1, "succeeded")]
    assert await scene.outcomes(second) == [(1, "lost")]
    assert await conclude(zombie, node, two) == 0


async def test_what_a_zombie_concluded_in_vain_is_lost_with_the_next_look(scene, dead, reaper):
    zombie, node, (first, _), (one, _) = dead
    _, buries = reaper
    transaction = zombie.transaction()
    await transaction.start()
    await conclude(zombie, node, one)
    await buries.tick()
    await transaction.rollback()
    assert await buries.tick() is True
    assert await scene.outcomes(first) == [(1, "lost")]
    assert not await known(scene, node)


# R-EXEC-3
@pytest.mark.parametrize("move", [conclude, again])
async def test_what_a_zombie_brings_while_it_is_buried_waits_and_is_stale(scene, dead, reaper, move):
    zombie, node, (first, _), (one, _) = dead
    session, buries = reaper
    async with session.transaction():
        await buries.tick()
        late = await scene.meets(zombie, move(zombie, node, one), by=session)
    assert await late == 0
    assert await concluding.own_facts(zombie, brought(one)) == set()
    await concluding.record_stale(
        zombie, node, [[one.schedule_id], [one.scheduled_for], [1], [one.volley], ["succeeded"], [None]]
    )
    assert await scene.outcomes(first) == [(1, "lost")]
    assert await scene.places(first) == {"waiting": 1, "resting": 1}


async def test_a_zombie_and_a_burial_that_go_through_the_rows_in_opposite_orders_meet_in_no_circle(
    scene, dead, reaper
):
    zombie, node, (first, second), (one, two) = dead
    session, buries = reaper
    async with zombie.transaction():
        await conclude(zombie, node, two)
        async with session.transaction():
            await buries.tick()
            late = await scene.meets(zombie, conclude(zombie, node, one), by=session)
        assert await late == 0
    assert await scene.outcomes(first) == [(1, "lost")]
    assert await scene.outcomes(second) == [(1, "succeeded")]
    assert await scene.deadlocks() == 0


async def test_what_a_zombie_hands_back_before_the_burial_is_no_attempt(scene, dead, reaper):
    zombie, node, (first, second), (one, _) = dead
    _, buries = reaper
    async with zombie.transaction():
        assert await hand_back(zombie, one) == 1
        await buries.tick()
    await buries.tick()
    assert not await known(scene, node)
    assert await scene.outcomes(first) == []
    assert await scene.places(first) == {"waiting": 1}
    assert await scene.outcomes(second) == [(1, "lost")]


async def test_what_a_zombie_hands_back_while_it_is_buried_waits_and_is_not_put_twice(scene, dead, reaper):
    zombie, _, (first, second), (one, two) = dead
    session, buries = reaper
    async with session.transaction():
        await buries.tick()
        late = await scene.meets(zombie, hand_back(zombie, two, one), by=session)
    assert await late == 0
    for schedule in (first, second):
        assert await scene.places(schedule) == {"waiting": 1, "resting": 1}


# R-EXEC-2
async def test_a_claim_that_is_first_is_seen_by_the_burial(scene, reaper):
    """The claim began under the lease: what it took is settled, too, or nobody ever would."""
    worker, node, other = await scene.connect(), await scene.node(), await scene.node()
    schedule = await scene.schedule()
    await scene.waits(schedule)
    session, buries = reaper
    async with worker.transaction():
        assert len(await claim(worker, node)) == 1
        await scene.expire(node)
        assert await buries.tick() is False  # left alone
    assert await buries.tick() is True
    assert not await known(scene, node)
    (retry,) = await claim(session, other)
    assert retry.number == 2


# R-EXEC-2
async def test_a_renewal_that_meets_the_burial_of_its_node_finds_the_lease_over_and_does_not_wait(
    scene, dead, reaper
):
    zombie, node, *_ = dead
    session, buries = reaper
    async with session.transaction():
        await buries.tick()
        assert await nodes.renew_lease(zombie, node, TTL) is False


async def test_a_renewal_sent_in_time_that_waits_for_the_burial_finds_no_node(scene, dead, reaper):
    _, node, *_ = dead
    session, buries = reaper
    in_time = await scene.watcher.fetchval("select detent.now() - interval '5 s'")
    heart = await scene.connect(at=in_time)
    async with session.transaction():
        await buries.tick()
        late = await scene.meets(heart, nodes.renew_lease(heart, node, TTL), by=session)
    assert await late is False


async def test_a_renewal_sent_in_time_that_waits_for_half_a_burial_comes_too_late(
    scene, dead, reaper, monkeypatch
):
    """More runs than one look settles: what is settled can't be taken back, so the node must not live on."""
    monkeypatch.setattr(reaping, "_MOST", 1)
    _, node, *_ = dead
    session, buries = reaper
    in_time = await scene.watcher.fetchval("select detent.now() - interval '5 s'")
    heart = await scene.connect(at=in_time)
    async with session.transaction():
        assert await buries.tick() is True
        late = await scene.meets(heart, nodes.renew_lease(heart, node, TTL), by=session)
    assert await late is False
    assert await known(scene, node)
    while await buries.tick():
        pass
    assert not await known(scene, node)


async def test_a_claim_sent_in_time_that_waits_for_half_a_burial_claims_nothing(
    scene, dead, reaper, monkeypatch
):
    monkeypatch.setattr(reaping, "_MOST", 1)
    _, node, *_ = dead
    session, buries = reaper
    fresh = await scene.schedule()
    await scene.waits(fresh, ago=30)
    in_time = await scene.watcher.fetchval("select detent.now() - interval '5 s'")
    worker = await scene.connect(at=in_time)
    async with session.transaction():
        assert await buries.tick() is True
        late = await scene.meets(worker, claim(worker, node), by=session)
    assert await late == []
    assert await scene.places(fresh) == {"waiting": 1}


async def test_a_renewal_that_is_first_saves_its_node(scene, reaper):
    heart, node = await scene.connect(), await scene.node()
    schedule = await scene.schedule()
    await scene.runs(schedule, node)
    _, buries = reaper
    async with heart.transaction():
        assert await nodes.renew_lease(heart, node, TTL)
        late = await scene.connect(at=await scene.watcher.fetchval("select detent.now() + interval '2 h'"))
        assert await Reaper(Only(late), Events(lambda _: None)).tick() is False
    assert await buries.tick() is False
    assert await scene.places(schedule) == {"running": 1}


# R-EXEC-2
async def test_renewals_and_claims_of_a_node_do_not_wait_for_each_other(scene):
    """A claim that waits for a seat must not cost its node the lease."""
    heart, worker, node = await scene.connect(), await scene.connect(), await scene.node()
    await scene.waits(await scene.schedule())
    async with worker.transaction():
        assert len(await claim(worker, node)) == 1
        async with heart.transaction():
            assert await nodes.renew_lease(heart, node, TTL)
            assert await claim(worker, node) == []


async def test_two_reapers_bury_two_nodes_side_by_side_and_none_twice(scene, dead, reaper):
    other = await scene.node()
    schedule = await scene.schedule()
    await scene.runs(schedule, other)
    await scene.expire(other)
    session, buries = reaper
    second = await scene.connect()
    async with session.transaction():
        await buries.tick()
        assert await Reaper(Only(second), Events(lambda _: None)).tick() is True  # doesn't wait
        assert await Reaper(Only(second), Events(lambda _: None)).tick() is False
    assert await scene.watcher.fetchval("select count(*) from detent.node") == 0
    assert await scene.watcher.fetchval("select count(*) from detent.attempt where outcome = 'lost'") == 3


async def test_a_zombie_that_holds_up_its_burial_does_not_hold_up_that_of_others(scene, dead, reaper):
    zombie, node, _, (one, _) = dead
    _, buries = reaper
    others = [await scene.node() for _ in range(3)]
    async with zombie.transaction():
        await conclude(zombie, node, one)
        await buries.tick()
        for other in others:
            await scene.expire(other)
        while await buries.tick():
            pass
        assert await scene.watcher.fetchval("select array_agg(id) from detent.node") == [node]


async def test_a_node_that_leaves_while_it_is_buried_gives_nothing_twice(scene, reaper):
    """A stop that takes longer than the lease."""
    node = await scene.node(kind="all")
    schedule = await scene.schedule()
    await scene.runs(schedule, node)
    await nodes.take_shards(scene.watcher, node, [1, 2, 3])
    await scene.expire(node)
    session, buries = reaper
    leaving = await scene.connect()
    async with session.transaction():
        await buries.tick()
        late = await scene.meets(leaving, nodes.leave(leaving, node), by=session)
    await late
    assert await scene.watcher.fetchval("select count(*) from detent.shard where holder is not null") == 0
    assert not await known(scene, node)


async def test_a_burial_that_meets_a_node_as_it_leaves_comes_back_later(scene, reaper):
    node = await scene.node(kind="all")
    await nodes.take_shards(scene.watcher, node, [3, 1, 2])
    _, buries = reaper
    leaving = await scene.connect()
    async with leaving.transaction():
        await nodes.leave(leaving, node)
        assert await buries.tick() is False
    assert await buries.tick() is True
    assert not await known(scene, node)
    assert await scene.watcher.fetchval("select count(*) from detent.shard where holder is not null") == 0


# R-EXEC-3
async def test_what_ran_under_the_old_id_is_concluded_under_the_new_one_until_the_burial(scene, dead, reaper):
    zombie, _, (first, second), (one, two) = dead
    _, buries = reaper
    reborn = await scene.node()
    assert await conclude(zombie, reborn, one) == 1
    assert await concluding.running_of_node(zombie, reborn, 10) == [], (
        "a reconcile hands back nothing of the old"
    )
    await buries.tick()
    assert await again(zombie, reborn, two) == 0
    assert await scene.outcomes(first) == [(1, "succeeded")]
    assert await scene.outcomes(second) == [(1, "lost")]
    (retry,) = await claim(zombie, reborn)
    assert retry.number == 2


async def test_a_burial_wakes_who_is_queued_behind_the_dead(scene, reaper):
    node, other = await scene.node(), await scene.node()
    schedule = await scene.schedule(overlap="queue")
    await scene.watcher.execute(
        """update detent.schedule set work = '{"target":{"task":"work"},"retry":{"max_attempts":1}}'"""
    )
    await scene.runs(schedule, node)
    queued = await scene.waits(schedule)
    parking = await scene.connect()
    await scene.expire(node)
    session, buries = reaper
    async with parking.transaction():
        await claiming.overlap(parking, 10)
        await buries.tick()  # the seat is being looked at: the next look
    await buries.tick()
    assert (await scene.places(schedule))["dead"] == 1
    assert [c.scheduled_for for c in await claim(session, other)] == [queued]
