"""What a worker takes, what it gives back, and what is taken from it."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from detent import Context
from detent.domain.instant import format_instant
from detent.observe.events import LoopFailed, NodeBuried, ResultsStale
from detent.worker.hand import MAX_UNWRITTEN

IN_HAND = "(select count(*) from detent.running where node = $1)"


def blocker():
    """A task that runs until it is let go, and how many of it run."""
    door, began = asyncio.Event(), []

    async def block(context: Context) -> None:
        began.append(context.key_at)
        await door.wait()

    return block, door, began


async def until(condition):
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0)


async def ahead(crew, name, seconds):
    """A firing due in a moment, that a worker claims before."""
    at = await crew.watcher.fetchval(
        "select date_trunc('milliseconds', now() + make_interval(secs => $1))", seconds
    )
    spec = {"name": f"{name}-ahead", "trigger": {"at": format_instant(at)}, "target": {"task": name}}
    await crew.create(**spec)


# R-EXEC-11
async def test_a_drain_gives_back_what_has_not_begun_and_waits_for_the_rest(crew):
    block, door, began = blocker()
    await crew.does(block, "block", overlap="allow")
    worker = await crew.hire(concurrency=2, claim_ahead=3.0)
    running = await crew.fire("block", 2)
    await crew.until(f"{IN_HAND} = 2", crew.node_of(worker).lease.id)
    await ahead(crew, "block", 2.5)
    await crew.until(f"{IN_HAND} = 3", crew.node_of(worker).lease.id)
    stopping = asyncio.create_task(crew.stop(worker, grace=10))
    await crew.until("(select count(*) from detent.waiting where number = 2) = 1")
    assert not stopping.done()
    assert not await crew.watcher.fetchval("select count(*) from detent.attempt"), "nothing was attempted"
    door.set()
    await stopping
    assert [n for n, _, _ in await crew.ends("block")] == [1, 1]
    assert sorted(began) == running
    await crew.hire()
    await crew.concluded(3)
    assert await crew.ends("block-ahead") == [(2, "succeeded", True)], "numbers count claims"


async def test_what_a_claim_brings_while_the_worker_is_told_to_stop_goes_back_at_once(crew, connect):
    async def quick() -> None:
        """Nothing."""

    await crew.does(quick)
    worker = await crew.hire()
    node = crew.node_of(worker).lease.id
    holder = await connect()
    transaction = holder.transaction()
    await transaction.start()
    await holder.execute("select from detent.node where id = $1 for update", node)
    await crew.fire("quick")
    claiming = (
        "(select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%claim_v1%')"
    )
    await crew.until(f"{claiming} = 1")
    stopping = asyncio.create_task(crew.stop(worker))
    await asyncio.sleep(0)
    assert worker.claimer.stopped
    await transaction.rollback()
    await stopping
    assert await crew.watcher.fetchrow("select number, held from detent.waiting") == (2, None)
    assert not await crew.ends("quick"), "it is not taken for lost"


async def test_what_does_not_end_within_the_grace_is_tried_elsewhere(crew):
    block, door, began = blocker()
    await crew.does(block, "block")
    worker = await crew.hire()
    await crew.fire("block")
    await crew.until("(select count(*) from detent.running) = 1")
    await crew.stop(worker, grace=0.2)
    assert await crew.ends("block") == [(1, "lost", False)]
    assert await crew.last("code", "block") == "stopping"
    door.set()
    await crew.hire()
    await crew.concluded(1)
    assert await crew.ends("block") == [(1, "lost", False), (2, "succeeded", True)]
    assert len(began) == 2


# R-EXEC-3
async def test_what_a_zombie_brings_is_recorded_and_changes_nothing(crew):
    block, door, began = blocker()
    await crew.does(block, "block")
    zombie = await crew.hire()
    await crew.fire("block")
    await crew.until("(select count(*) from detent.running) = 1")
    await crew.watcher.execute("update detent.node set lease_expires_at = now() - interval '1 s'")
    await crew.until("(select count(*) from detent.attempt where outcome = 'lost') = 1")
    await crew.until("(select count(*) from detent.running where number = 2) = 1")
    door.set()
    await crew.concluded(1)
    await crew.until("(select count(*) from detent.stale_result) = 1")
    assert await crew.ends("block") == [(1, "lost", False), (2, "succeeded", True)]
    stale = await crew.watcher.fetchrow("select number, outcome, volley from detent.stale_result")
    assert (stale["number"], stale["outcome"]) == (1, "succeeded")
    assert len(began) == 2
    assert [told.count for told in crew.told_of(ResultsStale)] == [1]
    assert [told.lost for told in crew.told_of(NodeBuried)] == [1]
    assert len(zombie.hand) == 0


async def test_three_lost_attempts_are_death_whatever_the_policy(crew):
    block, door, _ = blocker()
    await crew.does(block, "block", retry={"max_attempts": 10})
    await crew.hire()
    await crew.fire("block")
    for n in (1, 2, 3):
        await crew.until(
            "(select count(*) from detent.running where number = $1 and node is not null) = 1", n
        )
        await crew.watcher.execute("update detent.node set lease_expires_at = now() - interval '1 s'")
        await crew.until("(select count(*) from detent.attempt where outcome = 'lost') = $1", n)
    assert await crew.watcher.fetchval("select count(*) from detent.dead") == 1
    door.set()


async def test_a_worker_whose_places_are_taken_gives_back_what_it_took_too_much_of(crew):
    """What it claimed when its firings were quick must not wait for a slow one."""
    block, door, began = blocker()
    await crew.does(block, "block", overlap="allow")
    first = await crew.hire(concurrency=1)
    await crew.fire("block", 8)
    await crew.until(f"{IN_HAND} >= 1", crew.node_of(first).lease.id)
    second = await crew.hire(concurrency=20)
    await crew.until(f"{IN_HAND} = 7", crew.node_of(second).lease.id)
    assert await crew.watcher.fetchval(f"select {IN_HAND}", crew.node_of(first).lease.id) == 1
    door.set()
    await crew.concluded(8)
    assert len(began) == 8, "each began once"


async def test_what_can_not_be_given_back_at_once_is_given_back_later(crew):
    """It was nowhere else than in hand: neither waiting for a place, nor running, nor on its way back."""
    block, door, began = blocker()
    await crew.does(block, "block", overlap="allow")
    first = await crew.hire(concurrency=1)
    await crew.watcher.execute("alter function detent.hand_back_v1 rename to away")
    await crew.fire("block", 8)
    await crew.until(f"{IN_HAND} = 8", crew.node_of(first).lease.id)
    await until(lambda: any("hand_back" in event.error for event in crew.told_of(LoopFailed)))
    await crew.watcher.execute("alter function detent.away rename to hand_back_v1")
    await crew.hire(concurrency=20)
    await until(lambda: len(began) == 8)
    door.set()
    await crew.concluded(8)


async def test_what_is_in_hand_is_bounded_while_nothing_can_be_written(crew, connect):
    async def quick() -> None:
        """Nothing."""

    await crew.does(quick, overlap="allow")
    schedule_id = await crew.watcher.fetchval("select id from detent.schedule")
    await crew.watcher.execute(
        "with t as (select date_trunc('second', now()) - n * interval '1 ms' as at from generate_series(1, 30000) n),"
        " f as (insert into detent.firing (schedule_id, scheduled_for, due_at, kind, revision, tenant_id)"
        "       select $1, at, at, 'slot', 1, 1 from t returning scheduled_for)"
        " insert into detent.waiting (schedule_id, scheduled_for, pool, lane, due_at, seats)"
        " select $1, scheduled_for, 'default', 14, scheduled_for, 0 from f",
        schedule_id,
    )
    blocking = await connect()
    await blocking.execute("set idle_in_transaction_session_timeout = 0")
    transaction = blocking.transaction()
    await transaction.start()
    await blocking.execute("lock table detent.attempt in share mode")
    worker = await crew.hire(concurrency=50)
    bound = 50 + MAX_UNWRITTEN
    await crew.until("(select count(*) from detent.running) > 100")
    # A second in which it could have taken all of it, many times over.
    for _ in range(20):
        assert await crew.watcher.fetchval("select count(*) from detent.running, pg_sleep(0.05)") <= bound
    assert len(worker.hand) <= bound
    await transaction.rollback()
    await crew.concluded(30000)
    assert await crew.watcher.fetchval("select count(*) from detent.attempt") == 30000


async def test_a_claim_whose_answer_was_lost_goes_back_and_runs(crew):
    async def quick() -> None:
        """Nothing."""

    schedule_id = await crew.does(quick)
    worker = await crew.hire(lease_ttl=3.0)
    await crew.until("(select count(*) from detent.node) = 1")
    (at,) = await crew.fire("quick")
    await crew.concluded(1)
    # As if it had claimed and never learned of it.
    later = at + timedelta(seconds=1)
    await crew.watcher.execute(
        "insert into detent.firing (schedule_id, scheduled_for, due_at, kind, revision, tenant_id)"
        " values ($1, $2, $2, 'manual', 1, 1)",
        schedule_id, later,
    )  # fmt: skip
    await crew.watcher.execute(
        "insert into detent.running (schedule_id, seat, scheduled_for, number, volley, node, started_at, lane, pool)"
        " values ($1, 0, $2, 1, nextval('detent.volley'), $3, now(), 14, 'default')",
        schedule_id, later, crew.node_of(worker).lease.id,
    )  # fmt: skip
    await crew.concluded(2)
    assert await crew.ends("quick") == [(1, "succeeded", True), (2, "succeeded", True)]
