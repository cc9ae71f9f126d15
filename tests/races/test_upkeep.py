"""The upkeep meets the work: partitions made and dropped, tallies folded, a schema that is migrated."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from detent.store import migrate, partitions, planning
from detent.store.partitions import MOVED_ON
from tests.races.people import spec
from tests.races.scene import claim, conclude, end_waiting

FAR = datetime(2027, 5, 1, 12, tzinfo=UTC)
"""A day that has no partitions yet."""
DAY = timedelta(days=1)


async def parts(scene):
    return {one.name for one in await partitions.partitions(scene.watcher) if one.day == FAR.date()}


BOTH = {"firing_20270501", "attempt_20270501"}


# R-PLAN-5
async def test_of_two_who_make_the_same_partitions_the_second_waits_and_finds_them_made(scene):
    first, second = await scene.connect(), await scene.connect()
    async with first.transaction():
        assert await planning.ensure_partitions(first, FAR, FAR) == 2
        late = await scene.meets(second, planning.ensure_partitions(second, FAR, FAR), by=first)
    assert await late == 0
    assert await parts(scene) == BOTH


async def test_one_who_had_looked_for_partitions_before_another_made_them_finds_them(scene):
    """What a session didn't find, it remembers: it must not make them once more."""
    first, second = await scene.connect(), await scene.connect()
    assert await second.fetchval("select to_regclass('detent.firing_20270501')") is None
    async with first.transaction():
        await planning.ensure_partitions(first, FAR, FAR)
        late = await scene.meets(second, planning.ensure_partitions(second, FAR, FAR + DAY), by=first)
    assert await late == 2


async def test_partitions_whose_maker_gave_up_are_made_by_who_waited(scene):
    first, second = await scene.connect(), await scene.connect()
    transaction = first.transaction()
    await transaction.start()
    await planning.ensure_partitions(first, FAR, FAR)
    late = await scene.meets(second, planning.ensure_partitions(second, FAR, FAR), by=first)
    await transaction.rollback()
    assert await late == 2
    assert await parts(scene) == BOTH


async def test_many_planners_that_start_on_a_day_without_partitions_all_go_on(scene):
    sessions = [await scene.connect() for _ in range(6)]
    made = await asyncio.gather(*[planning.ensure_partitions(s, FAR, FAR + 3 * DAY) for s in sessions])
    assert sum(made) == 8
    assert await scene.deadlocks() == 0


async def test_partitions_are_made_beside_open_writes_and_reads_of_other_days(scene):
    ada, worker, reader, maker = [await scene.person(), *[await scene.connect() for _ in range(3)]]
    node = await scene.node()
    running = await scene.runs(await scene.schedule(), node)
    async with ada.busy(), worker.transaction(), reader.transaction():
        await ada.create(spec("t"))
        await conclude(worker, node, running)
        await reader.fetch("select from detent.firing")
        assert await planning.ensure_partitions(maker, FAR, FAR) == 2  # doesn't wait


async def test_two_commands_that_need_the_same_new_day_wait_one_way(scene):
    """Each holds its schedule; none wants the other's."""
    ada, bob = await scene.person(at=FAR), await scene.person(at=FAR)
    async with ada.busy():
        await ada.create(spec("a"))
        late = await scene.meets(bob.session, bob.create(spec("b")), by=ada.session)
    await late
    assert await scene.watcher.fetchval("select count(*) from detent.waiting") == 6
    assert await scene.deadlocks() == 0


async def test_a_planner_needs_no_partitions_of_its_own_while_it_waits_for_an_edit(scene):
    """An edit holds the timer and makes a partition; the planner makes its partitions before it wants the timer."""
    ada, planner = await scene.person(at=FAR - DAY), await scene.planner(at=FAR - DAY)
    await planner.take(range(256))
    await ada.create(spec("s"))
    await planner.session.execute("select set_config('detent.now', $1, false)", FAR.isoformat())
    moves = await planner.look()
    bob = await scene.person(at=FAR + DAY)
    async with bob.busy():
        await bob.edit(spec("s", every="15s"))
        late = await scene.meets(planner.session, planner.write(moves), by=bob.session)
    assert await late == (0, 0)


# R-RUN-4
async def test_a_partition_that_is_still_read_is_detached_when_the_reader_has_ended(scene, connect):
    maker, reader, pruner = [await scene.connect() for _ in range(3)]
    await pruner.execute("set lock_timeout = 0; set statement_timeout = 0")
    await planning.ensure_partitions(maker, FAR, FAR)
    old = next(p for p in await partitions.partitions(maker) if p.name == "firing_20270501")
    async with reader.transaction():
        await reader.fetch("select from detent.firing where scheduled_for > $1", FAR - DAY)
        late = await scene.meets(pruner, partitions.detach(pruner, old), by=reader)
        # Meanwhile the others write and plan as ever.
        schedule = await scene.schedule()
        await scene.waits(schedule)
    await late
    await partitions.drop(pruner, old)
    assert await parts(scene) == {"attempt_20270501"}
    assert await planning.ensure_partitions(maker, FAR, FAR) == 1


async def test_a_detach_that_was_cut_off_is_ended_by_another_pruner(scene):
    maker, reader, first, second = [await scene.connect() for _ in range(4)]
    await planning.ensure_partitions(maker, FAR, FAR)
    old = next(p for p in await partitions.partitions(maker) if p.name == "attempt_20270501")
    await first.execute("set lock_timeout = 0; set statement_timeout = 0")
    async with reader.transaction():
        await reader.fetch("select from detent.attempt where scheduled_for > $1", FAR - DAY)
        late = await scene.meets(first, partitions.detach(first, old), by=reader)
        await scene.watcher.execute("select pg_cancel_backend($1)", first.get_server_pid())
        with pytest.raises(asyncpg.QueryCanceledError):
            await late
        pending = next(p for p in await partitions.partitions(second) if p.name == old.name)
        assert (pending.attached, pending.pending) == (True, True)
        with pytest.raises(MOVED_ON):  # an earlier one knows nothing of it
            await partitions.detach(second, old)
    await partitions.detach(second, pending)
    await partitions.drop(second, pending)
    with pytest.raises(MOVED_ON):  # two pruners: the other was faster
        await partitions.drop(first, pending)


# R-SEE-1
async def test_flushes_that_come_while_tallies_are_folded_are_counted_once(scene):
    folding, other, worker, node = *[await scene.connect() for _ in range(3)], await scene.node()
    schedules = [await scene.schedule() for _ in range(3)]
    running = [await scene.runs(schedule, node) for schedule in schedules]
    await conclude(worker, node, running[0])
    await conclude(worker, node, running[1])
    minute = await scene.watcher.fetchval("select min(minute) from detent.tally")
    until = minute + timedelta(minutes=5)
    async with folding.transaction():
        await partitions.fold_tallies(folding, minute, until)
        assert await conclude(worker, node, running[2]) == 1  # doesn't wait
        late = await scene.meets(other, partitions.fold_tallies(other, minute, until), by=folding)
    await late
    assert await scene.watcher.fetchval("select sum(n) from detent.tally") == 3


# R-RUN-5
async def test_a_migration_waits_for_what_is_under_way_and_what_comes_waits_for_it(scene):
    """Functions are written anew, tables are locked: a release is rolled out under load."""
    worker, other, node = await scene.connect(), await scene.connect(), await scene.node()
    schedule = await scene.schedule()
    for ago in (5, 4):
        await scene.waits(schedule, ago=ago)
    migrating = await scene.connect()
    async with worker.transaction():
        (running,) = await claim(worker, node)
        alters = migrating.execute("alter table detent.waiting add column later text")
        late = await scene.meets(migrating, alters, by=worker)
        claims = await scene.meets(other, claim(other, node))
    await late
    assert await claims == []
    assert await conclude(worker, node, running) == 1
    (running,) = await claim(worker, node)
    assert await conclude(worker, node, running) == 1, "plans were made anew"
    assert await end_waiting(other) == []


async def test_functions_are_written_anew_while_they_are_called(scene):
    worker, migrating, node = await scene.connect(), await scene.connect(), await scene.node()
    running = await scene.runs(await scene.schedule(), node)
    async with worker.transaction():
        assert await claim(worker, node) == []
        await migrating.execute("delete from detent.migration where name like 'functions/%'")
        ran = await migrate.migrate(migrating)
        assert "functions/claim_v1.sql" in ran
        assert await conclude(worker, node, running) == 1
    assert await claim(worker, node) == []


async def test_of_two_migrations_the_second_waits_and_has_nothing_to_do(scene):
    first, second = await scene.connect(), await scene.connect()
    await first.execute("delete from detent.migration where name like 'functions/%'")
    async with first.transaction():
        assert await migrate.migrate(first)
        late = await scene.meets(second, migrate.migrate(second), by=first)
    assert await late == []
