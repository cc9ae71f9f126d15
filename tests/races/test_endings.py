"""Ends meet ends: the same result brought twice, two results for one firing, a wish to cancel, a last word of progress.

Whoever takes the running row under its volley has decided. What comes later changes nothing, and is not forgotten.
"""

from __future__ import annotations

import asyncio

import pytest

from detent.clock import DatabaseClock
from detent.domain.settle import Outcome
from detent.observe.events import Events, ResultsStale
from detent.store import concluding
from detent.targets.registry import Registry
from detent.worker.contexts import Contexts
from detent.worker.finaliser import Finaliser
from detent.worker.hand import Hand, Held
from tests.races.scene import (
    Only,
    again,
    brought,
    claim,
    conclude,
    defer,
    end_waiting,
    fact,
    hand_back,
    succeed,
)


@pytest.fixture
async def ran(scene):
    """A schedule, its firing that runs, the worker's session and node."""
    session, node = await scene.connect(), await scene.node()
    schedule = await scene.schedule()
    return schedule, await scene.runs(schedule, node), session, node


END = pytest.mark.parametrize(
    "end",
    [
        pytest.param(conclude, id="conclude"),
        pytest.param(lambda session, node, one: conclude(session, node, one, verdict="die"), id="die"),
        pytest.param(again, id="again"),
        pytest.param(lambda session, node, one: succeed(session, one), id="succeed"),
        pytest.param(lambda session, node, one: hand_back(session, one), id="hand back"),
        pytest.param(lambda session, node, one: defer(session, one), id="defer"),
    ],
)
WORDS = {"conclude": 1, "die": 1, "again": 1, "succeed": 1, "hand back": 0, "defer": 0}


# R-EXEC-1, R-EXEC-3
@END
async def test_the_same_end_sent_twice_counts_once(scene, ran, end, request):
    """The answer to the first was lost."""
    schedule, running, worker, node = ran
    assert await end(worker, node, running) == 1
    places, outcomes = await scene.places(schedule), await scene.outcomes(schedule)
    assert await end(worker, node, running) == 0
    assert (await scene.places(schedule), await scene.outcomes(schedule)) == (places, outcomes)
    assert len(outcomes) == WORDS[request.node.callspec.id.split("-")[0]]


@END
async def test_the_same_end_sent_twice_at_once_counts_once(scene, ran, end):
    """The driver gave the first call up, and the server had not."""
    _, running, worker, node = ran
    other = await scene.connect()
    async with worker.transaction():
        assert await end(worker, node, running) == 1
        late = await scene.meets(other, end(other, node, running), by=worker)
    assert await late == 0


@END
async def test_an_end_that_waits_for_one_that_is_rolled_back_counts(scene, ran, end):
    _, running, worker, node = ran
    other = await scene.connect()
    transaction = worker.transaction()
    await transaction.start()
    await conclude(worker, node, running)
    late = await scene.meets(other, end(other, node, running), by=worker)
    await transaction.rollback()
    assert await late == 1


# R-EXEC-3
@END
async def test_no_end_of_an_old_attempt_touches_the_next(scene, ran, end):
    """S6: the firing runs again, in the same seat, under another token."""
    schedule, running, worker, node = ran
    await again(worker, node, running)
    (retry,) = await claim(worker, node)
    assert retry.seat == running.seat
    assert await end(worker, node, running) == 0
    assert await scene.places(schedule) == {"running": 1}
    assert await conclude(worker, node, retry) == 1
    assert await end(worker, node, retry) == 0


async def test_of_many_ends_of_one_firing_at_once_one_counts(scene, ran):
    schedule, running, worker, node = ran
    sessions = [await scene.connect() for _ in range(5)]
    ends = [
        conclude(worker, node, running),
        succeed(sessions[0], running),
        again(sessions[1], node, running),
        hand_back(sessions[2], running),
        defer(sessions[3], running),
        conclude(sessions[4], node, running, verdict="die"),
    ]
    assert sum(await asyncio.gather(*ends)) == 1
    places = await scene.places(schedule)
    assert sum(places.values()) - places.get("resting", 0) == 1


async def test_a_batch_of_which_a_part_was_taken_away_counts_the_rest(scene):
    worker, other, node = await scene.connect(), await scene.connect(), await scene.node()
    schedules = [await scene.schedule() for _ in range(6)]
    running = [await scene.runs(schedule, node) for schedule in schedules]
    async with other.transaction():
        await hand_back(other, running[2], running[4])
        late = await scene.meets(worker, conclude(worker, node, *running), by=other)
    assert await late == 4
    assert await concluding.own_facts(worker, brought(*running)) == {
        one for n, one in enumerate(brought(*running)) if n not in (2, 4)
    }


# A wish to cancel: see test_wishes for what persons ask.


async def wish(session, claimed):
    """As an overlap asks for it."""
    return await session.fetchval(
        "update detent.running set cancel = 'overlap' where schedule_id = $1 and seat = $2 and volley = $3 returning true",
        claimed.schedule_id, claimed.seat, claimed.volley,
    )  # fmt: skip


# R-EXEC-7
@END
async def test_a_wish_to_cancel_that_waits_for_the_end_of_its_attempt_comes_too_late(scene, ran, end):
    _, running, worker, node = ran
    other = await scene.connect()
    async with worker.transaction():
        await end(worker, node, running)
        late = await scene.meets(other, wish(other, running), by=worker)
    assert await late is None
    assert await scene.watcher.fetchval("select count(*) from detent.running where cancel is not null") == 0


# R-EXEC-7
@END
async def test_an_end_that_waits_for_a_wish_to_cancel_ends_it_and_is_not_tried_again(scene, ran, end):
    schedule, running, worker, node = ran
    other = await scene.connect()
    async with other.transaction():
        assert await wish(other, running)
        late = await scene.meets(worker, end(worker, node, running), by=other)
    assert await late == 1
    assert await claim(worker, node) == []
    await end_waiting(worker)
    places = await scene.places(schedule)
    assert places in ({"concluded": 1}, {"dead": 1})
    assert await concluding.cancels(worker, node, 10) == []


# Progress.


async def test_progress_of_an_attempt_that_has_ended_is_refused(scene, ran):
    schedule, running, worker, node = ran
    said = (schedule.id, running.scheduled_for, running.volley, 0.5, "half")
    assert await concluding.progress(worker, *said)
    await again(worker, node, running)
    assert not await concluding.progress(worker, *said)
    (retry,) = await claim(worker, node)
    assert not await concluding.progress(worker, *said)
    assert await concluding.progress(worker, schedule.id, retry.scheduled_for, retry.volley, 0.1, None)


async def test_progress_does_not_wait_for_the_end_nor_the_end_for_progress(scene, ran):
    schedule, running, worker, node = ran
    other = await scene.connect()
    async with other.transaction():
        await concluding.progress(other, schedule.id, running.scheduled_for, running.volley, 0.5, None)
        assert await conclude(worker, node, running) == 1


# The finaliser, which brings results until it knows what became of them.


class Finale:
    """A finaliser on a session of its own, with what it has in hand."""

    def __init__(self, session, node):
        self.told = []
        self.session = session
        self.node = node
        pool, events = Only(session), Events(self.told.append)
        self.finaliser = Finaliser(
            pool, Hand(100), DatabaseClock(), events, Contexts(pool, None)
        )  # nobody asks for one

    def brings(self, *claimed, failed=False):
        for one in claimed:
            held = Held(one, Registry({}).call(one.work), self.node, 0.0, 0.0)
            if failed:
                self.finaliser.ended(held, 1.0, Outcome.FAILED, "it failed")
            else:
                self.finaliser.succeeded(held, 1.0, None)

    @property
    def stale(self):
        return sum(event.count for event in self.told if isinstance(event, ResultsStale))


async def stale(scene):
    return await scene.watcher.fetchval("select count(*) from detent.stale_result")


# R-EXEC-3
@pytest.mark.parametrize("failed", [False, True])
async def test_an_own_commit_whose_answer_was_lost_is_not_stale(scene, failed):
    """Also if the firing was taken up again meanwhile."""
    session, node = await scene.connect(), await scene.node()
    schedules = [await scene.schedule() for _ in range(3)]
    running = [await scene.runs(schedule, node) for schedule in schedules]
    finale = Finale(session, node)
    finale.brings(*running, failed=failed)
    await finale.finaliser.tick()
    await scene.watcher.execute("update detent.waiting set due_at = detent.now()")
    retries = await claim(session, node)
    assert len(retries) == (3 if failed else 0)
    finale.brings(*running, failed=failed)  # it doesn't know that they are on record
    await finale.finaliser.tick()
    assert (finale.stale, await stale(scene)) == (0, 0)
    assert await scene.watcher.fetchval("select count(*) from detent.attempt") == 3


# R-EXEC-3
async def test_what_was_taken_away_and_concluded_by_another_is_recorded_as_stale(scene):
    session, node, other = await scene.connect(), await scene.node(), await scene.node()
    schedules = [await scene.schedule() for _ in range(3)]
    running = [await scene.runs(schedule, node) for schedule in schedules]
    await hand_back(session, running[1])
    (taken,) = await claim(session, other)
    assert await conclude(session, other, taken) == 1
    finale = Finale(session, node)
    finale.brings(*running)
    await finale.finaliser.tick()
    assert (finale.stale, await stale(scene)) == (1, 1)
    assert await scene.outcomes(schedules[1]) == [(2, "succeeded")]
    assert finale.finaliser.pending == 0


async def test_of_two_firings_of_one_schedule_in_one_volley_the_one_that_was_taken_away_is_stale(scene):
    session, node = await scene.connect(), await scene.node()
    schedule = await scene.schedule(overlap="allow", seats=0)
    for ago in (5, 4):
        await scene.waits(schedule, ago=ago)
    one, two = await claim(session, node)
    assert one.volley == two.volley
    await hand_back(session, two)
    finale = Finale(session, node)
    finale.brings(one, two)
    await finale.finaliser.tick()
    assert (finale.stale, await stale(scene)) == (1, 1)


async def test_a_flush_that_was_given_up_and_is_made_again_writes_each_result_once(scene):
    """Cut off after its commit: the batch stays in memory, and is brought again with what has gathered since."""
    session, node = await scene.connect(), await scene.node()
    schedules = [await scene.schedule() for _ in range(4)]
    running = [await scene.runs(schedule, node) for schedule in schedules]
    finale = Finale(session, node)
    finale.brings(*running[:2])
    assert (
        await concluding.conclude(session, node, [fact(one) for one in running[:2]], []) == 2
    )  # it had arrived
    finale.brings(*running[2:])
    await finale.finaliser.tick()
    assert finale.finaliser.pending == 0
    assert (finale.stale, await stale(scene)) == (0, 0)
    assert await scene.watcher.fetchval("select count(*) from detent.attempt") == 4
    tallied = await scene.watcher.fetchval("select sum(n) from detent.tally where outcome = 'succeeded'")
    assert tallied == 4
