"""The planner meets people, and itself: a slot becomes at most one firing, and none is lost.

Who moves the timer first has decided; the other sees that it moved, or that its revision is another one. Time stands
still here, a while after the schedule was made.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from detent.store import planning
from tests.postgres import set_now
from tests.races.people import spec
from tests.races.scene import end_waiting

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(seconds=20)
"""What lies up to half a minute after noon is promised by then; ten seconds and more are due to the planner."""
AFTER = NOON + timedelta(minutes=10)


class Cast:
    """A schedule that fires every ten seconds since noon, a person, and a planner that holds all shards."""

    def __init__(self, scene, ada, planner):
        self.scene, self.ada, self.planner = scene, ada, planner

    async def at(self, instant):
        for session in (self.ada.session, self.planner.session):
            await set_now(session, instant)

    async def slots(self, held=None):
        """Seconds after noon of what waits, withheld for that reason or not at all."""
        rows = await self.scene.watcher.fetch(
            "select scheduled_for from detent.waiting where held is not distinct from $1 order by 1", held
        )
        return [(row[0] - NOON).total_seconds() for row in rows]

    async def omitted(self):
        rows = await self.scene.watcher.fetch(
            "select from_at, to_at, reason from detent.omission order by from_at"
        )
        return [((a - NOON).total_seconds(), (b - NOON).total_seconds(), why) for a, b, why in rows]

    async def cursor(self):
        found = await self.scene.watcher.fetchval("select next_at from detent.timer where active")
        return found and (found - NOON).total_seconds()


@pytest.fixture
async def cast(scene):
    ada, planner = await scene.person(at=NOON), await scene.planner(at=NOON)
    await planner.take(range(256))
    await ada.create(spec("s", every="10s"))
    made = Cast(scene, ada, planner)
    assert (await made.slots(), await made.cursor()) == ([10, 20, 30], 40)
    await made.at(LATER)
    return made


# R-PLAN-5, R-PLAN-9
async def test_a_plan_that_waits_for_an_edit_leaves_the_timer_to_it(scene, cast):
    moves = await cast.planner.look()
    async with cast.ada.busy():
        await cast.ada.edit(spec("s", every="15s"))
        late = await scene.meets(cast.planner.session, cast.planner.write(moves), by=cast.ada.session)
    assert await late == (0, 0)
    await judge_edit(cast)


async def test_an_edit_that_waits_for_a_plan_withholds_what_it_promised(scene, cast):
    moves = await cast.planner.look()
    async with cast.planner.session.transaction():
        assert await cast.planner.write(moves) == (1, 2)
        edit = cast.ada.edit(spec("s", every="15s"))
        late = await scene.meets(cast.ada.session, edit, by=cast.planner.session)
    assert await late == 2
    await judge_edit(cast)


async def test_a_plan_that_was_thought_of_before_an_edit_and_comes_after_it_changes_nothing(cast):
    moves = await cast.planner.look()
    await cast.ada.edit(spec("s", every="15s"))
    assert await cast.planner.write(moves) == (0, 0)
    await judge_edit(cast)


async def judge_edit(cast):
    """Either the old or the new firing, never both, never none: up to now the old, from now on the new."""
    assert await cast.slots() == [10, 20, 35, 50]
    assert set(await cast.slots("edited")) <= {30, 40, 50}
    assert await cast.cursor() == 65
    await cast.at(LATER + timedelta(seconds=20))
    await cast.planner.plan()
    assert await cast.slots() == [10, 20, 35, 50, 65]


@pytest.mark.parametrize("first", ["plan", "edit"])
async def test_an_edit_to_a_cadence_that_keeps_a_slot_keeps_its_one_firing(scene, cast, first):
    moves = await cast.planner.look()
    edit = cast.ada.edit(spec("s", every="20s", priority=9))
    if first == "plan":
        async with cast.planner.session.transaction():
            await cast.planner.write(moves)
            late = await scene.meets(cast.ada.session, edit, by=cast.planner.session)
        await late
    else:
        async with cast.ada.busy():
            await edit
            late = await scene.meets(cast.planner.session, cast.planner.write(moves), by=cast.ada.session)
        assert await late == (0, 0)
    assert await cast.slots() == [10, 20, 40]
    assert (
        await scene.watcher.fetchval("select count(distinct lane) from detent.waiting where held is null")
        == 1
    )
    assert await cast.cursor() == 60


# R-API-1
@pytest.mark.parametrize("verb", ["pause", "delete"])
async def test_a_plan_that_waits_for_a_pause_or_a_deletion_promises_nothing(scene, cast, verb):
    moves = await cast.planner.look()
    async with cast.ada.busy():
        await getattr(cast.ada, verb)()
        late = await scene.meets(cast.planner.session, cast.planner.write(moves), by=cast.ada.session)
    assert await late == (0, 0)
    assert await cast.slots() == []
    assert await cast.cursor() is None
    assert await cast.planner.due() == []


@pytest.mark.parametrize("verb", ["pause", "delete"])
async def test_a_pause_or_a_deletion_that_waits_for_a_plan_withholds_what_it_promised(scene, cast, verb):
    moves = await cast.planner.look()
    async with cast.planner.session.transaction():
        await cast.planner.write(moves)
        late = await scene.meets(cast.ada.session, getattr(cast.ada, verb)(), by=cast.planner.session)
    await late
    assert await cast.slots() == []
    assert await cast.slots(f"{verb}d") == [10, 20, 30, 40, 50]
    assert await cast.cursor() is None


async def test_a_plan_that_was_thought_of_before_a_pause_and_a_resume_promises_no_slot_twice(scene, cast):
    """The revision is the same as before, but the resume has planned the window itself."""
    moves = await cast.planner.look()
    await cast.ada.pause()
    await cast.ada.resume()
    assert await cast.planner.write(moves) == (0, 0)
    assert await cast.slots("paused") == [10, 20], "they were due when the pause began"
    assert await cast.slots() == [30, 40, 50]
    assert await cast.cursor() == 60


@pytest.mark.parametrize("first", ["plan", "resume"])
async def test_what_fell_into_a_pause_is_omitted_whoever_is_first_after_it(scene, cast, first):
    await cast.planner.plan()
    await cast.ada.pause()
    await cast.at(AFTER)
    async with cast.ada.busy():
        await cast.ada.resume()
        assert await cast.planner.due() == []
    if first == "plan":
        assert (await cast.planner.plan()).moved == 0
    assert await cast.omitted() == [(60, 600, "paused")]
    assert await cast.slots() == [600, 610, 620, 630]
    await end_waiting(cast.ada.session)
    assert await cast.slots("paused") == []


# R-PLAN-7
@pytest.mark.parametrize("first", ["plan", "edit"])
async def test_slots_that_nobody_planned_in_time_are_accounted_for_once(scene, cast, first):
    """The planner was away for ten minutes, and comes back as somebody edits."""
    await cast.at(AFTER)
    moves = await cast.planner.look()
    edit = cast.ada.edit(spec("s", every="15s"))
    if first == "plan":
        async with cast.planner.session.transaction():
            await cast.planner.write(moves)
            late = await scene.meets(cast.ada.session, edit, by=cast.planner.session)
        await late
    else:
        async with cast.ada.busy():
            await edit
            late = await scene.meets(cast.planner.session, cast.planner.write(moves), by=cast.ada.session)
        assert await late == (0, 0)
    kinds = await scene.watcher.fetch("select kind, count(*)::int from detent.firing group by 1 order by 1")
    assert dict(kinds)["catch_up"] == 1
    assert [(a, why) for a, _, why in await cast.omitted()] == [(40, "misfire")]
    assert [slot for slot in await cast.slots() if slot > 600] == [615, 630]
    assert await scene.watcher.fetchval(
        "select count(*) from detent.firing f join detent.omission o on f.scheduled_for >= o.from_at"
        " and f.scheduled_for < o.to_at"
    ) == 0  # fmt: skip


@pytest.mark.parametrize("first", ["plan", "trigger"])
async def test_a_trigger_stands_beside_the_slots(scene, cast, first):
    moves = await cast.planner.look()
    if first == "plan":
        async with cast.planner.session.transaction():
            await cast.planner.write(moves)
            late = await scene.meets(cast.ada.session, cast.ada.trigger(), by=cast.planner.session)
        await late
    else:
        async with cast.ada.busy():
            await cast.ada.trigger()
            late = await scene.meets(cast.planner.session, cast.planner.write(moves), by=cast.ada.session)
        assert await late == (1, 2), "the timer is where it was seen"
    assert await cast.slots() == [10, 20, 20.000001, 30, 40, 50]
    assert await cast.cursor() == 60


async def test_a_plan_whose_answer_was_lost_and_that_is_sent_again_changes_nothing(scene, cast):
    moves = await cast.planner.look()
    assert await cast.planner.write(moves) == (1, 2)
    assert await cast.planner.write(moves) == (0, 0)
    assert await cast.slots() == [10, 20, 30, 40, 50]


async def test_a_plan_that_is_rolled_back_leaves_its_slots_to_the_next(scene, cast):
    transaction = cast.planner.session.transaction()
    await transaction.start()
    await cast.planner.plan()
    await transaction.rollback()
    assert await cast.planner.plan() == (1, 2)
    assert await cast.slots() == [10, 20, 30, 40, 50]


async def test_a_plan_of_many_timers_moves_those_that_nobody_changed(scene, cast):
    """One that is being edited is waited for; the others don't suffer from what became of it."""
    for name in ("a", "b", "t"):
        await cast.ada.create(spec(name, every="10s"))
    await cast.at(AFTER)
    moves = await cast.planner.look()
    async with cast.ada.busy():
        await cast.ada.edit(spec("b", every="15s"))
        late = await scene.meets(cast.planner.session, cast.planner.write(moves), by=cast.ada.session)
    assert (await late).moved == 3


# R-PLAN-1
async def test_a_created_schedule_is_nobodys_until_it_is_committed_and_then_the_planners(scene, cast):
    bob = await scene.person(at=LATER)
    async with bob.busy():
        await bob.create(spec("t", every="10s"))
        assert {timer.revision for timer in await cast.planner.due()} == {1}
        assert len(await cast.planner.due()) == 1
        await cast.planner.plan()
    await cast.at(AFTER)
    assert len(await cast.planner.due()) == 2


# Parking.


async def park(cast, revision=1):
    session = cast.planner.session
    (timer,) = await cast.planner.due()
    async with session.transaction():
        if await planning.hold_shard(
            session, timer.shard, cast.planner.node, cast.planner.epochs[timer.shard]
        ):
            await planning.park(session, timer.schedule_id, revision, "it can't be read")


async def status(scene):
    return await scene.watcher.fetchval("select status from detent.schedule")


async def test_a_parking_that_waits_for_an_edit_leaves_the_new_revision_alone(scene, cast):
    async with cast.ada.busy():
        await cast.ada.edit(spec("s", every="15s"))
        late = await scene.meets(cast.planner.session, park(cast), by=cast.ada.session)
    await late
    assert await status(scene) == "active"
    assert await cast.cursor() == 65


async def test_an_edit_that_waits_for_a_parking_brings_the_schedule_back(scene, cast):
    async with cast.planner.session.transaction():
        await park(cast)
        edit = cast.ada.edit(spec("s", every="15s"))
        late = await scene.meets(cast.ada.session, edit, by=cast.planner.session)
    await late
    assert await status(scene) == "active"
    assert await cast.cursor() == 65


@pytest.mark.parametrize("first", ["park", "delete"])
async def test_a_parking_that_meets_a_deletion_does_not_bring_it_back(scene, cast, first):
    if first == "park":
        async with cast.planner.session.transaction():
            await park(cast)
            late = await scene.meets(cast.ada.session, cast.ada.delete(), by=cast.planner.session)
    else:
        async with cast.ada.busy():
            await cast.ada.delete()
            late = await scene.meets(cast.planner.session, park(cast), by=cast.ada.session)
    await late
    assert await status(scene) == "deleted"
    assert await cast.cursor() is None
