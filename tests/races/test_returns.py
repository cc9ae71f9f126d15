"""Firings that come back to waiting, as a retry, handed back or deferred, and meet a change of their schedule.

They ask the schedule's row where to wait, and hold it until they do: a change that was first is obeyed, one that comes
later finds them waiting.
"""

from __future__ import annotations

import asyncio

import pytest

from tests.races.people import spec
from tests.races.scene import MINUTE, SECOND, again, claim, conclude, defer, end_waiting, hand_back

BACK = pytest.mark.parametrize("back", ["again", "hand_back", "defer"])


async def come_back(back, session, node, claimed):
    if back == "again":
        return await again(session, node, claimed)
    return await (hand_back if back == "hand_back" else defer)(session, claimed)


@pytest.fixture
async def running(scene):
    """A person, a schedule of his with a firing that runs, and the worker's session and node."""
    ada, worker, node = await scene.person(), await scene.connect(), await scene.node()
    schedule = await scene.created(ada)
    (claimed,) = await claim(worker, node, quota=1, ahead=MINUTE)
    return ada, schedule, claimed, worker, node


async def name_of(scene, schedule):
    return await scene.watcher.fetchval("select name from detent.schedule where id = $1", schedule.id)


# R-EXEC-4, R-EXEC-8
@BACK
async def test_a_firing_that_comes_back_while_an_edit_moves_its_schedule_waits_in_the_new_pool(
    scene, running, back
):
    """Or nobody would ever claim it: the row that is joined to the locked one is read before the wait."""
    ada, schedule, claimed, worker, node = running
    moved = spec(
        await name_of(scene, schedule), pool="reports", priority=9, overlap="allow", max_concurrent=3
    )
    async with ada.busy():
        await ada.edit(moved)
        late = await scene.meets(worker, come_back(back, worker, node, claimed), by=ada.session)
    assert await late == 1
    place = await scene.places_at(schedule, claimed.scheduled_for)
    assert (place["pool"], place["lane"], place["seats"], place["held"]) == ("reports", 19, 3, None)
    taken = await claim(worker, node, pool="reports", lane=19, ahead=MINUTE)
    assert claimed.scheduled_for in {c.scheduled_for for c in taken}


@BACK
async def test_an_edit_that_waits_for_a_firing_to_come_back_takes_it_along(scene, running, back):
    ada, schedule, claimed, worker, node = running
    name = await name_of(scene, schedule)
    async with worker.transaction():
        await come_back(back, worker, node, claimed)
        late = await scene.meets(ada.session, ada.edit(spec(name, pool="reports", priority=9)), by=worker)
    await late
    place = await scene.places_at(schedule, claimed.scheduled_for)
    assert (place["pool"], place["lane"], place["number"]) == ("reports", 19, 2)


@BACK
@pytest.mark.parametrize("verb", ["pause", "delete"])
async def test_a_firing_that_comes_back_into_a_pause_or_a_deletion_is_withheld(scene, running, back, verb):
    ada, schedule, claimed, worker, node = running
    async with ada.busy():
        await getattr(ada, verb)(await name_of(scene, schedule))
        late = await scene.meets(worker, come_back(back, worker, node, claimed), by=ada.session)
    assert await late == 1
    assert (await scene.places_at(schedule, claimed.scheduled_for))["held"] == f"{verb}d"
    assert await claim(worker, node, ahead=MINUTE) == []


@BACK
@pytest.mark.parametrize("verb", ["pause", "delete"])
async def test_a_pause_or_a_deletion_that_waits_for_a_firing_to_come_back_withholds_it(
    scene, running, back, verb
):
    ada, schedule, claimed, worker, node = running
    name = await name_of(scene, schedule)
    async with worker.transaction():
        await come_back(back, worker, node, claimed)
        late = await scene.meets(ada.session, getattr(ada, verb)(name), by=worker)
    await late
    assert (await scene.places_at(schedule, claimed.scheduled_for))["held"] is not None
    assert await claim(worker, node, ahead=MINUTE) == []


@BACK
async def test_a_firing_that_comes_back_while_its_pause_ends_may_run(scene, running, back):
    ada, schedule, claimed, worker, node = running
    name = await name_of(scene, schedule)
    await ada.pause(name)
    async with ada.busy():
        await ada.resume(name)
        late = await scene.meets(worker, come_back(back, worker, node, claimed), by=ada.session)
    assert await late == 1
    assert (await scene.places_at(schedule, claimed.scheduled_for))["held"] is None


@BACK
async def test_firings_come_back_to_one_schedule_side_by_side(scene, back):
    """They share its row: retries of a schedule with many seats don't wait for each other."""
    first, second, node = await scene.connect(), await scene.connect(), await scene.node()
    schedule = await scene.schedule(overlap="allow", seats=2)
    one, two = [await scene.runs(schedule, node, ago=ago) for ago in (9, 8)]
    async with first.transaction():
        await come_back(back, first, node, one)
        await come_back(back, second, node, two)
    assert (await scene.places(schedule))["waiting"] == 2


@pytest.mark.parametrize("status", ["parked", "ended"])
async def test_a_firing_of_a_schedule_that_has_no_slots_any_more_still_gets_its_retry(scene, status):
    """What was promised is kept: only the cadence can't be read, or has come to its end."""
    session, node = await scene.connect(), await scene.node()
    schedule = await scene.schedule()
    claimed = await scene.runs(schedule, node)
    await scene.watcher.execute("update detent.schedule set status = $1 where id = $2", status, schedule.id)
    await again(session, node, claimed)
    (retry,) = await claim(session, node)
    await hand_back(session, retry)
    (retry,) = await claim(session, node)
    assert retry.number == 3
    assert await conclude(session, node, retry) == 1


# R-EXEC-3
@BACK
async def test_a_firing_that_is_brought_back_twice_waits_once(scene, running, back):
    """The answer to the first call was lost."""
    _, schedule, claimed, worker, node = running
    assert await come_back(back, worker, node, claimed) == 1
    assert await come_back(back, worker, node, claimed) == 0
    (retry,) = [c for c in await claim(worker, node, ahead=MINUTE) if c.schedule_id == schedule.id]
    assert await come_back(back, worker, node, claimed) == 0, "it runs again, under another token"
    assert await conclude(worker, node, retry) == 1


@BACK
async def test_a_firing_that_two_bring_back_at_once_waits_once(scene, running, back):
    """The one who holds it, and the reaper or a reconcile that thinks he doesn't."""
    _, schedule, claimed, worker, node = running
    second, third, fourth = [await scene.connect() for _ in range(3)]
    async with worker.transaction():
        assert await come_back(back, worker, node, claimed) == 1
        late = [
            await scene.meets(second, hand_back(second, claimed), by=worker),
            await scene.meets(third, again(third, node, claimed)),
            await scene.meets(fourth, conclude(fourth, node, claimed)),
        ]
    assert await asyncio.gather(*late) == [0, 0, 0]
    assert (await scene.places_at(schedule, claimed.scheduled_for))["number"] == 2


async def test_a_retry_that_is_withdrawn_gives_its_seat_to_who_is_queued(scene, running):
    ada, schedule, claimed, worker, node = running
    await again(worker, node, claimed)
    await ada.pause(await name_of(scene, schedule))
    queued = await scene.waits(schedule, held="queued")
    assert (claimed.scheduled_for, "withdrawn") in {
        (one.scheduled_for, one.outcome) for one in await end_waiting(worker)
    }
    assert (await scene.places_at(schedule, queued))["held"] is None


# R-TARGET-3
async def test_a_deferred_firing_keeps_its_seat_its_deadline_and_its_attempts(scene):
    """The next slot does not overtake it, and nothing was attempted."""
    session, node = await scene.connect(), await scene.node()
    schedule = await scene.schedule(overlap="queue")
    await scene.watcher.execute(
        "update detent.timer set start_deadline = '2 min' where schedule_id = $1", schedule.id
    )
    claimed = await scene.runs(schedule, node, ago=60)
    assert await defer(session, claimed, seconds=30) == 1
    await scene.waits(schedule, ago=5)
    assert await claim(session, node) == [], "the seat is taken"
    place = await scene.places_at(schedule, claimed.scheduled_for)
    assert (place["number"], place["held"]) == (2, None)
    row = await scene.watcher.fetchrow(
        "select seat, due_at, expires_at from detent.waiting where scheduled_for = $1", claimed.scheduled_for
    )
    assert tuple(row) == (0, claimed.read_at + 30 * SECOND, claimed.scheduled_for + 120 * SECOND)
    (again_claimed,) = await claim(session, node, ahead=MINUTE)
    assert (again_claimed.scheduled_for, again_claimed.number) == (claimed.scheduled_for, 2)
    assert again_claimed.volley > claimed.volley
    assert await scene.outcomes(schedule) == []


async def test_a_deferred_firing_that_misses_its_deadline_gives_its_seat_back(scene):
    session, node = await scene.connect(), await scene.node()
    schedule = await scene.schedule(overlap="queue")
    await scene.watcher.execute(
        "update detent.timer set start_deadline = '10 s' where schedule_id = $1", schedule.id
    )
    claimed = await scene.runs(schedule, node, ago=60)
    await defer(session, claimed, seconds=30)
    assert [(one.scheduled_for, one.outcome) for one in await end_waiting(session)] == [
        (claimed.scheduled_for, "missed")
    ]
    assert await scene.places(schedule) == {"concluded": 1}
