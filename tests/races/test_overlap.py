"""The overlap policy meets claims, conclusions, commands and itself.

It decides under the locks of the running rows that it saw, and waits for nobody.
"""

from __future__ import annotations

import asyncio

import pytest

from detent.store import claiming
from tests.races.people import spec
from tests.races.scene import again, claim, conclude, end_waiting, hand_back, overlap

QUEUES = pytest.mark.parametrize("policy", ["queue", "collapse", "cancel_previous"])


@pytest.fixture
async def full(scene):
    """`await full(policy)`: the schedule, its firing that runs, the worker's session and node."""

    async def made(policy, **given):
        session, node = await scene.connect(), await scene.node()
        schedule = await scene.schedule(overlap=policy, **given)
        return schedule, await scene.runs(schedule, node), session, node

    return made


async def tallied(scene):
    rows = await scene.watcher.fetch("select outcome, sum(n)::int from detent.tally group by 1")
    return dict(rows)


# Parking and conclusions: no wake-up is lost.


# R-EXEC-6
@QUEUES
async def test_a_conclusion_that_waits_for_a_parking_wakes_what_was_parked(scene, full, policy):
    schedule, running, worker, node = await full(policy)
    await scene.waits(schedule)
    other = await scene.connect()
    async with other.transaction():
        assert [what for *_, what in await overlap(other)] == ["queued"]
        late = await scene.meets(worker, conclude(worker, node, running), by=other)
    assert await late == 1
    assert await scene.places(schedule) == {"waiting": 1, "concluded": 1}


# R-EXEC-6
@QUEUES
async def test_a_parking_that_meets_a_conclusion_leaves_the_seat_to_it_and_parks_nothing(scene, full, policy):
    schedule, running, worker, node = await full(policy)
    await scene.waits(schedule)
    other = await scene.connect()
    async with worker.transaction():
        await conclude(worker, node, running)
        assert await overlap(other) == []  # does not wait
    assert await scene.places(schedule) == {"waiting": 1, "concluded": 1}
    assert await overlap(other) == []


async def test_a_parking_that_met_a_conclusion_which_was_rolled_back_parks_at_the_next_look(scene, full):
    schedule, running, worker, node = await full("queue")
    await scene.waits(schedule)
    other = await scene.connect()
    transaction = worker.transaction()
    await transaction.start()
    await conclude(worker, node, running)
    assert await overlap(other) == []
    await transaction.rollback()
    assert [what for *_, what in await overlap(other)] == ["queued"]
    assert await scene.places(schedule) == {"held": 1, "running": 1}


async def test_two_conclusions_of_one_schedule_wake_two(scene):
    """Neither sees that the other frees a seat, and neither waits for the other."""
    first, second, node = await scene.connect(), await scene.connect(), await scene.node()
    schedule = await scene.schedule(overlap="allow", seats=2)
    one, two = [await scene.runs(schedule, node, ago=ago) for ago in (9, 8)]
    for ago in (5, 4, 3):
        await scene.waits(schedule, ago=ago, held="queued")
    async with first.transaction():
        await conclude(first, node, one)
        await conclude(second, node, two)
    assert await scene.places(schedule) == {"waiting": 2, "held": 1, "concluded": 2}


async def test_conclusions_of_many_schedules_in_opposite_orders_wake_without_waiting(scene):
    first, second, node = await scene.connect(), await scene.connect(), await scene.node()
    schedules = [await scene.schedule(overlap="allow", seats=2) for _ in range(2)]
    one, two = [[await scene.runs(schedule, node, ago=ago) for schedule in schedules] for ago in (9, 8)]
    for schedule in schedules:
        for ago in (5, 4):
            await scene.waits(schedule, ago=ago, held="queued")
    async with first.transaction(), second.transaction():
        await conclude(first, node, one[0])
        await conclude(second, node, two[1])
        await conclude(first, node, one[1])
        await conclude(second, node, two[0])
    for schedule in schedules:
        assert await scene.places(schedule) == {"waiting": 2, "concluded": 2}


# R-EXEC-6
async def test_what_is_woken_goes_before_a_younger_firing_that_was_not_parked_yet(scene, full):
    """`queue` keeps its order: claims go by due instants, and what is woken is due from then on only."""
    schedule, running, worker, node = await full("queue")
    older = await scene.waits(schedule, ago=5)
    await overlap(worker)
    younger = await scene.waits(schedule, ago=0.5)
    await conclude(worker, node, running)
    assert [c.scheduled_for for c in await claim(worker, node)] == [older]
    (running,) = await scene.running(schedule)
    await overlap(worker)
    await conclude(worker, node, running)
    assert [c.scheduled_for for c in await claim(worker, node)] == [younger]


async def test_the_backstop_that_meets_a_wake_up_wakes_no_second_firing_for_one_seat(scene, full):
    schedule, running, worker, node = await full("queue")
    for ago in (5, 4):
        await scene.waits(schedule, ago=ago, held="queued")
    other = await scene.connect()
    async with worker.transaction():
        await conclude(worker, node, running)
        assert await claiming.wake_forgotten(other, 100) == 0, "the seat is taken as far as it sees"
    assert await claiming.wake_forgotten(other, 100) == 0, "the seat is for the one that is awake"
    assert await scene.places(schedule) == {"waiting": 1, "held": 1, "concluded": 1}


async def test_the_backstop_wakes_what_was_forgotten_and_nothing_else(scene, full):
    schedule, _, worker, node = await full("queue")
    await scene.waits(schedule, held="queued")
    forgotten = await scene.schedule(overlap="queue")
    oldest, _ = [await scene.waits(forgotten, ago=ago, held="queued") for ago in (5, 4)]
    awake = await scene.schedule(overlap="queue")  # and its pool has no worker
    await scene.waits(awake, ago=9)
    await scene.waits(awake, ago=8, held="queued")
    unlimited = await scene.schedule(overlap="allow", seats=0)
    await scene.waits(unlimited, held="queued")
    assert [await claiming.wake_forgotten(worker, 2) for _ in range(2)] == [2, 0]
    assert oldest in {c.scheduled_for for c in await claim(worker, node)}


# Claims.


async def test_a_policy_that_meets_a_claim_of_the_firing_leaves_it_alone(scene, full):
    """The claim took a seat that is free by now; the policy saw it full. Neither waits for the other in a circle."""
    for policy in ("skip", "queue", "collapse"):
        schedule, running, worker, node = await full(policy)
        await scene.waits(schedule)
        other = await scene.connect()
        async with worker.transaction():
            await scene.locked(worker, schedule)  # as a claim does first
            assert await overlap(other) == []
        assert await scene.places(schedule) == {"waiting": 1, "running": 1}
        await conclude(worker, node, running)
        assert len(await claim(worker, node)) == 1


async def test_a_claim_that_meets_a_policy_finds_the_firing_gone_or_parked(scene, full):
    for policy, expected in (
        ("skip", {"running": 1, "concluded": 1}),
        ("queue", {"running": 1, "held": 1}),
    ):
        schedule, _, worker, node = await full(policy)
        await scene.waits(schedule)
        other = await scene.connect()
        async with other.transaction():
            await overlap(other)
            assert await claim(worker, node) == []  # does not wait
        assert await claim(worker, node) == []
        assert await scene.places(schedule) == expected


async def test_a_claim_that_waited_for_a_rival_and_a_policy_that_parks_make_no_circle(scene):
    """The claim holds a firing of the second schedule, whose seat was taken after it looked, and waits on the first.
    The policy holds that seat, and would wait for the firing."""
    rival, late, policy = [await scene.connect() for _ in range(3)]
    node = await scene.node()
    one, two = await scene.schedule(overlap="queue"), await scene.schedule(overlap="queue")
    await scene.waits(one, ago=9)
    transaction = rival.transaction()
    await transaction.start()
    assert len(await claim(rival, node)) == 1
    for schedule in (one, two):
        await scene.waits(schedule, ago=5)
    waiting = await scene.meets(late, claim(late, node), by=rival)
    overtaking = await scene.waits(two, ago=7)
    assert [c.scheduled_for for c in await claim(policy, node)] == [overtaking]
    async with policy.transaction():
        await overlap(policy)  # the firing of the second schedule is being claimed: left alone
        await transaction.rollback()
    assert [c.schedule_id for c in await waiting] == [one.id]
    assert await scene.places(two) == {"running": 1, "waiting": 1}
    assert await scene.deadlocks() == 0


# Cancel previous.


# R-EXEC-6, R-EXEC-7
async def test_a_run_that_ends_by_itself_while_it_is_told_to_give_way_has_ended(scene, full):
    schedule, running, worker, node = await full("cancel_previous")
    newest = await scene.waits(schedule)
    other = await scene.connect()
    async with other.transaction():
        await overlap(other)
        late = await scene.meets(worker, conclude(worker, node, running), by=other)
    assert await late == 1
    assert await scene.outcomes(schedule) == [(1, "succeeded")]
    assert [c.scheduled_for for c in await claim(worker, node)] == [newest]
    assert await scene.watcher.fetchval("select cancel from detent.running") is None


async def test_a_run_that_is_about_to_end_is_not_told_to_give_way(scene, full):
    schedule, running, worker, node = await full("cancel_previous")
    await scene.waits(schedule)
    other = await scene.connect()
    async with worker.transaction():
        await conclude(worker, node, running)
        assert await overlap(other) == []
    assert await scene.places(schedule) == {"waiting": 1, "concluded": 1}


async def test_a_firing_that_rests_between_attempts_gives_way_and_is_counted(scene, full):
    schedule, running, worker, node = await full("cancel_previous")
    await again(worker, node, running)
    newest = await scene.waits(schedule)
    assert {what for *_, what in await overlap(worker)} == {"queued", "cancelled"}
    assert await scene.places(schedule) == {"waiting": 1, "concluded": 1}
    assert await scene.outcomes(schedule) == [(0, "cancelled"), (1, "failed")]
    assert await tallied(scene) == {"failed": 1, "cancelled": 1}
    assert [c.scheduled_for for c in await claim(worker, node)] == [newest]


async def test_a_retry_that_is_being_claimed_does_not_give_way_and_nobody_waits_in_a_circle(scene, full):
    schedule, running, worker, node = await full("cancel_previous")
    await again(worker, node, running)
    await scene.waits(schedule)
    other = await scene.connect()
    async with worker.transaction():
        await scene.locked(worker, schedule, retry=True)  # as a claim does first
        assert [what for *_, what in await overlap(other)] == ["queued"]
        assert [c.number for c in await claim(worker, node)] == [2]
    assert await scene.places(schedule) == {"held": 1, "running": 1}
    await scene.waits(schedule, ago=0.1)
    await overlap(other)
    assert await scene.watcher.fetchval("select cancel from detent.running") == "overlap"


async def test_a_retry_that_gives_way_can_no_longer_be_claimed(scene, full):
    schedule, running, worker, node = await full("cancel_previous")
    await again(worker, node, running)
    newest = await scene.waits(schedule)
    other = await scene.connect()
    async with other.transaction():
        await overlap(other)
        assert await claim(worker, node) == []
    assert [c.scheduled_for for c in await claim(worker, node)] == [newest]


async def test_the_newest_of_those_that_wait_is_the_one_that_others_give_way_to(scene, full):
    """Else each would be started and cancelled in turn, and the newest would never be reached."""
    schedule, running, worker, node = await full("cancel_previous")
    for ago in (9, 8):
        await scene.waits(schedule, ago=ago)
    newest = await scene.waits(schedule, ago=7)
    assert sorted(what for *_, what in await overlap(worker)) == ["cancelled", "cancelled", "queued"]
    await conclude(worker, node, running, outcome="cancelled")
    assert [c.scheduled_for for c in await claim(worker, node)] == [newest]
    assert await tallied(scene) == {"cancelled": 3}


# Two looks at once, and the rest of the house.


@pytest.mark.parametrize("policy", ["skip", "queue", "collapse", "cancel_previous"])
async def test_two_looks_at_once_decide_once(scene, full, policy):
    schedules = [(await full(policy))[0] for _ in range(5)]
    for schedule in schedules:
        for ago in (3, 2):
            await scene.waits(schedule, ago=ago)
    first, second = await scene.connect(), await scene.connect()
    async with first.transaction():
        mine = await overlap(first)
        assert await overlap(second) == []
    assert len(mine) == 10
    assert await overlap(second) == []
    assert await scene.deadlocks() == 0


@QUEUES
async def test_many_looks_and_conclusions_at_once_lose_no_wake_up_and_meet_in_no_circle(scene, policy):
    sessions = [await scene.connect() for _ in range(4)]
    node = await scene.node()
    schedules = [await scene.schedule(overlap=policy) for _ in range(10)]
    for schedule in schedules:
        for ago in range(60, 54, -1):
            await scene.waits(schedule, ago=ago)
    while running := await claim(sessions[0], node):
        half = len(running) // 2
        await asyncio.gather(
            overlap(sessions[0]),
            conclude(sessions[1], node, *running[:half]) if half else asyncio.sleep(0),
            conclude(sessions[2], node, *running[half:][::-1]),
            overlap(sessions[3]),
        )
    assert await scene.watcher.fetchval("select count(*) from detent.waiting") == 0, "nothing was forgotten"
    assert await scene.deadlocks() == 0


@QUEUES
async def test_a_pause_that_waits_for_a_parking_withholds_what_was_parked(scene, policy):
    ada, worker, node = await scene.person(), await scene.connect(), await scene.node()
    schedule = await scene.schedule(overlap=policy)
    running = await scene.runs(schedule, node)
    await scene.waits(schedule)
    async with worker.transaction():
        await overlap(worker)
        late = await scene.meets(ada.session, ada.pause("s1"), by=worker)
    await late
    await conclude(worker, node, running)
    assert await claim(worker, node) == []
    assert [one.code for one in await end_waiting(worker)] == ["paused"]


async def test_a_parking_that_meets_a_pause_leaves_it_its_firings(scene):
    ada, worker, node = await scene.person(), await scene.connect(), await scene.node()
    schedule = await scene.schedule(overlap="queue")
    await scene.runs(schedule, node)
    await scene.waits(schedule)
    async with ada.busy():
        await ada.pause("s1")
        assert await overlap(worker) == []
    assert await overlap(worker) == []
    assert [one.code for one in await end_waiting(worker)] == ["paused"]


async def test_a_wake_up_that_meets_a_pause_leaves_it_its_firings(scene):
    ada, worker, node = await scene.person(), await scene.connect(), await scene.node()
    schedule = await scene.schedule(overlap="queue")
    running = await scene.runs(schedule, node)
    await scene.waits(schedule, held="queued")
    async with ada.busy():
        await ada.pause("s1")
        assert await conclude(worker, node, running) == 1  # doesn't wait
    assert await claim(worker, node) == []
    assert [one.code for one in await end_waiting(worker)] == ["paused"]


async def test_a_pause_that_waits_for_a_wake_up_withholds_what_was_woken(scene):
    ada, worker, node = await scene.person(), await scene.connect(), await scene.node()
    schedule = await scene.schedule(overlap="queue")
    running = await scene.runs(schedule, node)
    await scene.waits(schedule, held="queued")
    async with worker.transaction():
        await conclude(worker, node, running)
        late = await scene.meets(ada.session, ada.pause("s1"), by=worker)
    await late
    assert await claim(worker, node) == []
    assert [one.code for one in await end_waiting(worker)] == ["paused"]


# R-EXEC-6
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"overlap": "queue"}, {"overlap": "allow"}),
        ({"overlap": "allow", "max_concurrent": 1}, {"overlap": "allow"}),
        ({"overlap": "queue"}, {"overlap": "allow", "max_concurrent": 3}),
        ({"overlap": "queue"}, {"overlap": "skip"}),
        ({"overlap": "collapse"}, {"overlap": "queue"}),
        ({"overlap": "queue"}, {"overlap": "queue", "pool": "default", "priority": 4, "tags": ["x"]}),
    ],
)
async def test_what_was_queued_under_one_policy_is_judged_anew_after_an_edit(scene, before, after):
    """Or it would wait for a conclusion that wakes nobody any more."""
    ada, worker, node = await scene.person(), await scene.connect(), await scene.node()
    await ada.create(spec("s9", every="1h", **before))
    schedule = await scene.known("s9", seats=1)
    running = await scene.runs(schedule, node)
    oldest, *_ = [await scene.waits(schedule, ago=ago, held="queued") for ago in (5, 4)]
    await ada.edit(spec("s9", every="1h", **after))
    assert (await scene.places(schedule)).get("held") is None
    free = await claim(worker, node)
    if after["overlap"] == "allow":
        assert free[0].scheduled_for == oldest
        assert len(free) == 2
        return
    assert free == []
    judged = {what for *_, what in await overlap(worker)}
    assert judged == {"skipped" if after["overlap"] == "skip" else "queued"}
    await conclude(worker, node, running)
    taken = [c.scheduled_for for c in await claim(worker, node)]
    assert taken == ([] if after["overlap"] == "skip" else [oldest])


async def test_a_fresh_firing_that_is_handed_back_keeps_its_turn_before_the_queued(scene, full):
    schedule, running, worker, node = await full("queue")
    queued = await scene.waits(schedule, held="queued")
    await hand_back(worker, running)
    assert await claiming.wake_forgotten(worker, 100) == 0
    (taken,) = await claim(worker, node)
    assert taken.scheduled_for == running.scheduled_for
    await conclude(worker, node, taken)
    assert [c.scheduled_for for c in await claim(worker, node)] == [queued]


async def test_one_that_was_to_run_next_and_is_missed_passes_its_turn_on(scene, full):
    schedule, running, worker, node = await full("queue")
    first = await scene.waits(schedule, ago=5, held="queued", expires=3600)
    second = await scene.waits(schedule, ago=4, held="queued")
    await conclude(worker, node, running)
    await scene.watcher.execute(
        "update detent.waiting set expires_at = detent.now() where scheduled_for = $1", first
    )
    assert [one.outcome for one in await end_waiting(worker)] == ["missed"]
    assert [c.scheduled_for for c in await claim(worker, node)] == [second]
