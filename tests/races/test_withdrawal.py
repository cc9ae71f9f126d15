"""Withdrawals meet claims and ends: pause, delete, edit, resume and missed deadlines compete for the waiting row.

Whoever gets the row has decided. A command waits for a claim that was first, and then finds the row gone; a claim passes
over what a command holds, and then finds it withheld.
"""

from __future__ import annotations

import asyncio

import pytest

from tests.races.people import spec
from tests.races.scene import MINUTE, claim, conclude, end_waiting, hand_back

WITHDRAWS = pytest.mark.parametrize("verb", ["pause", "delete", "edit"])


@pytest.fixture
async def met(scene):
    """A person, his schedule with three firings that wait, a worker's session and node."""
    ada = await scene.person()
    schedule = await scene.created(ada)
    return ada, schedule, await scene.connect(), await scene.node()


async def withdraw(ada, verb):
    """So that none of what waits may run: an edit leaves no slot where there was one."""
    if verb == "edit":
        return await ada.edit(spec("s1", every="1h"))
    return await getattr(ada, verb)("s1")


# R-API-1, R-EXEC-1
@WITHDRAWS
async def test_a_claim_that_is_first_runs_and_the_withdrawal_takes_the_rest(scene, met, verb):
    ada, schedule, worker, node = met
    async with worker.transaction():
        (running,) = await claim(worker, node, quota=1, ahead=MINUTE)
        late = await scene.meets(ada.session, withdraw(ada, verb), by=worker)
    await late
    assert await scene.places(schedule) == {"running": 1, "held": 2}
    assert await claim(worker, node, ahead=MINUTE) == []
    assert await conclude(worker, node, running) == 1


@WITHDRAWS
async def test_a_withdrawal_whose_rival_claim_is_rolled_back_takes_all(scene, met, verb):
    ada, schedule, worker, node = met
    transaction = worker.transaction()
    await transaction.start()
    await claim(worker, node, quota=1, ahead=MINUTE)
    late = await scene.meets(ada.session, withdraw(ada, verb), by=worker)
    await transaction.rollback()
    await late
    assert await scene.places(schedule) == {"held": 3}


# R-API-1
@WITHDRAWS
async def test_a_claim_that_meets_a_withdrawal_does_not_wait_and_claims_nothing_of_it(scene, met, verb):
    """S5: once it is committed, nothing of the schedule can be claimed."""
    ada, schedule, worker, node = met
    other = await scene.schedule()
    await scene.waits(other)
    async with ada.busy():
        await withdraw(ada, verb)
        assert [c.schedule_id for c in await claim(worker, node, ahead=MINUTE)] == [other.id]
    assert await claim(worker, node, ahead=MINUTE) == []
    assert await scene.places(schedule) == {"held": 3}


@WITHDRAWS
async def test_a_withdrawal_that_is_rolled_back_leaves_all_to_the_next_claim(scene, met, verb):
    ada, schedule, worker, node = met
    transaction = ada.session.transaction()
    await transaction.start()
    await withdraw(ada, verb)
    assert await claim(worker, node, ahead=MINUTE) == []
    await transaction.rollback()
    assert len(await claim(worker, node, ahead=MINUTE)) == 1
    assert await scene.places(schedule) == {"running": 1, "waiting": 2}


async def test_a_claim_that_waits_for_a_seat_while_its_schedule_is_paused_gets_nothing_of_it(scene):
    """It looked before the pause, and holds the firing: the pause waits for it, whatever becomes of the claim."""
    ada, rival, worker = await scene.person(), await scene.connect(), await scene.connect()
    node = await scene.node()
    schedule = await scene.schedule()
    await scene.waits(schedule, ago=9)
    async with rival.transaction():
        await claim(rival, node)
        held = await scene.waits(schedule, ago=5)
        late = await scene.meets(worker, claim(worker, node), by=rival)
        pause = await scene.meets(ada.session, ada.pause("s1"), by=rival)
    assert await late == []
    await pause
    assert (await scene.places_at(schedule, held))["held"] == "paused"
    assert await scene.places(schedule) == {"running": 1, "held": 1}


# R-EXEC-8, R-EXEC-9
async def test_a_claim_from_the_old_lane_passes_over_what_an_edit_moves(scene, met):
    ada, schedule, worker, node = met
    async with ada.busy():
        await ada.edit(spec("s1", pool="reports", priority=9))
        assert await claim(worker, node, ahead=MINUTE) == []
        assert await claim(worker, node, pool="reports", lane=19, ahead=MINUTE) == []
    assert await claim(worker, node, ahead=MINUTE) == []
    assert len(await claim(worker, node, pool="reports", lane=19, ahead=MINUTE)) == 1
    assert await scene.places(schedule) == {"running": 1, "waiting": 2}


async def test_what_is_overdue_in_a_pool_without_workers_is_found_at_once_where_an_edit_moves_it(scene, met):
    """Claims look from the present on: what moves is due now, not when it was due where it came from."""
    ada, schedule, worker, node = met
    overdue = await scene.waits(schedule, ago=600)
    now = await scene.watcher.fetchval("select detent.now()")
    await ada.edit(spec("s1", pool="reports"))
    found = await claim(worker, node, pool="reports", floor=now, ahead=MINUTE)
    assert overdue in {claimed.scheduled_for for claimed in found}


# Resumes, and edits that take a firing back.


@pytest.mark.parametrize("verb", ["resume", "edit"])
async def test_what_a_command_lets_go_again_can_be_claimed_when_it_is_committed(scene, verb):
    ada, worker, node = await scene.person(), await scene.connect(), await scene.node()
    same = {"trigger": {"every": "10s", "start_at": "2026-01-01T00:00:00Z"}}
    schedule = await scene.created(ada, **same)
    waiting = await scene.places(schedule)
    await withdraw(ada, "pause" if verb == "resume" else "edit")
    async with ada.busy():
        await (ada.resume("s1") if verb == "resume" else ada.edit(spec("s1", **same)))
        assert await claim(worker, node, ahead=MINUTE) == []
        assert await end_waiting(worker) == []
    assert await scene.places(schedule) == waiting
    assert len(await claim(worker, node, ahead=MINUTE)) == 1


async def test_a_resume_keeps_what_a_planner_promised_that_looks_farther_ahead(scene):
    """Each process has its own look-ahead, and a database's clock may be set back."""
    ada = await scene.person()
    await scene.created(ada)
    ahead = await scene.person(at=await scene.watcher.fetchval("select detent.now() + interval '1 min'"))
    await ahead.pause("s1")
    await ahead.resume("s1")
    waiting = "select scheduled_for from detent.waiting where held is null"
    before = await scene.watcher.fetch(waiting)
    await ada.pause("s1")
    await ada.resume("s1")
    assert set(before) <= set(await scene.watcher.fetch(waiting))


async def test_a_resume_that_waits_for_the_end_of_a_withheld_firing_finds_it_ended(scene, met):
    """Its instant came a moment ago: it fell into the pause."""
    ada, schedule, ending, _ = met
    await ada.pause("s1")
    gone = await scene.watcher.fetchval("select min(scheduled_for) from detent.waiting")
    await scene.watcher.execute(
        "update detent.waiting set due_at = detent.now() where scheduled_for = $1", gone
    )
    async with ending.transaction():
        assert [one.scheduled_for for one in await end_waiting(ending)] == [gone]
        # As one that looked when it still lay ahead: it waits for the row, and the row is gone.
        await ada.session.execute(
            "select set_config('detent.now', (detent.now() - interval '5 s')::text, false)"
        )
        late = await scene.meets(ada.session, ada.resume("s1"), by=ending)
    await late
    places = await scene.places(schedule)
    assert places["concluded"] == 1
    assert "held" not in places


async def test_an_end_of_waiting_that_meets_a_resume_leaves_it_its_firings(scene, met):
    ada, schedule, ending, _ = met
    await ada.pause("s1")
    ahead = await scene.watcher.fetchval("select (detent.now() + interval '1 h')::text")
    await ending.execute("select set_config('detent.now', $1, false)", ahead)
    async with ada.busy():
        await ada.resume("s1")
        assert await end_waiting(ending) == []  # to it they are long due, and being let go
    assert await scene.places(schedule) == {"waiting": 3}
    assert await end_waiting(ending) == [], "they are not withheld any more"


@pytest.mark.parametrize("verb", ["resume", "edit"])
async def test_what_somebody_wished_to_end_stays_so_whatever_is_done_to_its_schedule(scene, verb):
    """It was claimed ahead of its instant, is handed back, and is a slot of the schedule all the same."""
    ada, worker, node = await scene.person(), await scene.connect(), await scene.node()
    same = {"trigger": {"every": "10s", "start_at": "2026-01-01T00:00:00Z"}}
    schedule = await scene.created(ada, **same)
    (running,) = await claim(worker, node, quota=1, ahead=MINUTE)
    await worker.execute("update detent.running set cancel = 'asked: ada'")
    await hand_back(worker, running)
    if verb == "resume":
        await ada.pause("s1")
        await ada.resume("s1")
    else:
        await ada.edit(spec("s1", every="1h"))
        await ada.edit(spec("s1", **same))
    assert (await scene.places_at(schedule, running.scheduled_for))["held"] == "cancelled"


# Deadlines.


# R-EXEC-10
async def test_a_claim_that_is_first_starts_what_would_be_missed(scene):
    worker, other, node = await scene.connect(), await scene.connect(), await scene.node()
    schedule = await scene.schedule()
    await scene.waits(schedule, expires=0.000_01)
    before = await scene.watcher.fetchval("select (detent.now() - interval '2 s')::text")
    await worker.execute("select set_config('detent.now', $1, false)", before)  # asked a moment before
    async with worker.transaction():
        (running,) = await claim(worker, node, ahead=MINUTE)
        assert await end_waiting(other) == []
    assert await end_waiting(other) == []
    assert await conclude(worker, node, running) == 1
    assert await scene.outcomes(schedule) == [(1, "succeeded")]


# R-EXEC-10
async def test_what_is_missed_while_a_claim_comes_is_not_claimed(scene):
    worker, other, node = await scene.connect(), await scene.connect(), await scene.node()
    schedule = await scene.schedule()
    await scene.waits(schedule, expires=0.000_01)
    before = await scene.watcher.fetchval("select (detent.now() - interval '2 s')::text")
    await worker.execute("select set_config('detent.now', $1, false)", before)
    async with other.transaction():
        assert [one.outcome for one in await end_waiting(other)] == ["missed"]
        assert await claim(worker, node, ahead=MINUTE) == []
    assert await claim(worker, node, ahead=MINUTE) == []
    assert await scene.outcomes(schedule) == [(0, "missed")]


async def test_what_is_missed_and_withheld_at_once_ends_once(scene):
    schedule = await scene.schedule()
    sessions = [await scene.connect() for _ in range(3)]
    for ago in range(30, 0, -1):
        await scene.waits(schedule, ago=ago, held="paused", expires=-0.5)
    ended = await asyncio.gather(*[end_waiting(session) for session in sessions])
    assert sum(len(one) for one in ended) == 30
    assert {one.outcome for each in ended for one in each} == {"missed"}
    assert await scene.places(schedule) == {"concluded": 30}


@WITHDRAWS
async def test_a_withdrawal_that_waits_for_a_missed_deadline_finds_it_ended(scene, met, verb):
    ada, schedule, ending, _ = met
    await scene.watcher.execute("update detent.waiting set expires_at = detent.now()")
    async with ending.transaction():
        assert len(await end_waiting(ending)) == 3
        late = await scene.meets(ada.session, withdraw(ada, verb), by=ending)
    await late
    assert await scene.places(schedule) == {"concluded": 3}
    assert {what for _, what in await scene.outcomes(schedule)} == {"missed"}


async def test_a_firing_that_is_handed_back_after_its_deadline_is_missed_and_not_started_again(scene):
    worker, node = await scene.connect(), await scene.node()
    schedule = await scene.schedule()
    await scene.watcher.execute("update detent.timer set start_deadline = '10 s'")
    running = await scene.runs(schedule, node, ago=60)
    await hand_back(worker, running)
    assert await claim(worker, node) == []
    assert [one.outcome for one in await end_waiting(worker)] == ["missed"]
