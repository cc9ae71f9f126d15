"""A person's wishes for single firings that meet claims, conclusions, and other persons."""

from __future__ import annotations

import asyncio

import pytest

from detent.commands.firings import Firings
from detent.commands.schedules import Actor, Conflict
from detent.domain.identity import firing_id
from detent.store import claiming
from detent.store.claiming import Ended
from tests.races.scene import again, claim, conclude, hand_back

ADA, BOB = Actor(by="ada", reason="wrong list"), Actor(by="bob")


def wishes(session):
    return Firings(connection=session)


async def facts(scene, schedule):
    rows = await scene.watcher.fetch(
        "select number, outcome, code, error, final from detent.attempt where schedule_id = $1 order by number",
        schedule.id,
    )
    return [tuple(row) for row in rows]


# R-API-1, R-EXEC-7
async def test_a_cancel_that_waits_for_a_claim_asks_the_worker(scene, connect):
    worker, person = await connect(), await connect()
    node = await scene.node()
    schedule = await scene.schedule()
    firing = firing_id(schedule.id, await scene.waits(schedule))
    async with worker.transaction():
        await claim(worker, node)
        late = await scene.meets(person, wishes(person).cancel(firing, ADA), by=worker)
    assert await late is False
    assert await scene.watcher.fetchval("select cancel from detent.running") == "asked: ada: wrong list"


async def test_a_claim_passes_over_what_is_being_cancelled(scene, connect):
    worker, person = await connect(), await connect()
    node = await scene.node()
    schedule = await scene.schedule()
    firing = firing_id(schedule.id, await scene.waits(schedule))
    transaction = person.transaction()
    await transaction.start()
    assert await wishes(person).cancel(firing, ADA) is True
    assert await claim(worker, node) == []
    await transaction.commit()
    assert await claim(worker, node) == []
    assert await facts(scene, schedule) == [(0, "cancelled", "asked", "ada: wrong list", True)]


async def test_a_cancel_that_waits_for_a_firing_to_come_back_ends_it(scene, connect):
    """It ran when the cancel looked, and waits for its next attempt when the cancel gets it."""
    worker, person = await connect(), await connect()
    node = await scene.node()
    schedule = await scene.schedule()
    running = await scene.runs(schedule, node)
    firing = firing_id(schedule.id, running.scheduled_for)
    async with worker.transaction():
        await again(worker, node, running)
        late = await scene.meets(person, wishes(person).cancel(firing, ADA), by=worker)
    assert await late is True
    assert await scene.places(schedule) == {"concluded": 1}
    assert [fact[:2] for fact in await facts(scene, schedule)] == [(0, "cancelled"), (1, "failed")]


async def test_a_cancel_that_waits_for_the_end_is_told_that_it_is_over(scene, connect):
    worker, person = await connect(), await connect()
    node = await scene.node()
    schedule = await scene.schedule()
    running = await scene.runs(schedule, node)
    async with worker.transaction():
        await conclude(worker, node, running)
        firing = firing_id(schedule.id, running.scheduled_for)
        late = await scene.meets(person, wishes(person).cancel(firing, ADA), by=worker)
    with pytest.raises(Conflict, match="is over"):
        await late


# R-EXEC-7
@pytest.mark.parametrize("way", ["again", "hand back", "hand back a retry", "defer", "die with its node"])
async def test_a_wish_outlives_the_attempt_that_it_came_too_late_for(scene, connect, way):
    """Otherwise what a person has cancelled would be tried again, after the delay, as if nobody had asked."""
    worker, person = await connect(), await connect()
    node = await scene.node()
    schedule = await scene.schedule()
    running = await scene.runs(schedule, node)
    if way == "hand back a retry":
        await again(worker, node, running)
        (running,) = await claim(worker, node)
    firing = firing_id(schedule.id, running.scheduled_for)
    assert await wishes(person).cancel(firing, ADA) is False
    if way in ("again", "die with its node"):
        await again(worker, node, running, due_at=running.read_at.replace(year=running.read_at.year + 1))
    elif way == "defer":
        later = running.read_at.replace(year=running.read_at.year + 1)
        await claiming.defer(worker, [(running.schedule_id, running.seat, running.volley, later)])
    else:
        await hand_back(worker, running)
    assert await claim(worker, node) == []
    ended = await claiming.end_waiting(worker, 10)
    assert ended == [Ended(schedule.id, running.scheduled_for, "cancelled", "cancelled")]
    assert await scene.places(schedule) == {"concluded": 1}
    if way != "hand back":
        assert (await facts(scene, schedule))[0][3] == "asked: ada: wrong list"


async def test_a_cancel_frees_the_seat_that_rested_and_whoever_is_queued_is_woken(scene, connect):
    worker, person = await connect(), await connect()
    node = await scene.node()
    schedule = await scene.schedule(overlap="queue")
    running = await scene.runs(schedule, node)
    later = running.read_at.replace(year=running.read_at.year + 1)
    await again(worker, node, running, due_at=later)
    await scene.waits(schedule, held="queued")
    assert await wishes(person).cancel(firing_id(schedule.id, running.scheduled_for), ADA) is True
    (taken,) = await claim(worker, node)
    assert taken.scheduled_for != running.scheduled_for


# R-EXEC-5
async def test_of_two_who_replay_a_dead_letter_one_does(scene, connect):
    first, second = await connect(), await connect()
    firing, schedule = await dead(scene, first)
    transaction = first.transaction()
    await transaction.start()
    assert await wishes(first).replay([firing], ADA) == [firing]
    late = await scene.meets(second, wishes(second).replay([firing], BOB), by=first)
    await transaction.commit()
    assert await late == []
    assert await scene.places(schedule) == {"waiting": 1}


# R-EXEC-5
async def test_what_one_discards_another_can_not_replay(scene, connect):
    first, second = await connect(), await connect()
    firing, schedule = await dead(scene, first)
    transaction = first.transaction()
    await transaction.start()
    assert await wishes(first).discard([firing], ADA) == [firing]
    late = await scene.meets(second, wishes(second).replay([firing], BOB), by=first)
    await transaction.commit()
    assert await late == []
    assert await scene.places(schedule) == {"concluded": 1}


async def test_two_who_replay_many_in_other_orders_do_not_stop_each_other(scene, connect):
    first, second, third = [await connect() for _ in range(3)]
    made = [await dead(scene, first) for _ in range(9)]
    letters = [letter for letter, _ in made]
    transaction = third.transaction()
    await transaction.start()
    await third.execute("select from detent.dead where schedule_id = $1 for update", made[4][1].id)
    moves = [
        await scene.meets(session, wishes(session).replay(order, ADA))
        for session, order in ((first, letters), (second, letters[::-1]))
    ]
    await transaction.commit()
    done = await asyncio.gather(*moves)
    assert sorted([*done[0], *done[1]]) == sorted(letters)


async def dead(scene, session):
    node = await scene.node()
    schedule = await scene.schedule()
    running = await scene.runs(schedule, node)
    await conclude(session, node, running, outcome="failed", verdict="die")
    return firing_id(schedule.id, running.scheduled_for), schedule
