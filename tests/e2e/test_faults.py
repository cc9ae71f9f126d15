"""Planners and workers are killed, frozen and restarted under load, and so is PostgreSQL: no slot is lost, none fires
twice, and what is late is so by no more than was promised."""

from __future__ import annotations

import signal

import asyncpg

from tests.e2e.rig import TTL, kill

A_SECOND = 200
SLACK = 0.75
"""Seconds beyond what is promised: ticks and polls."""
HOPS = 5
"""A firing that changes hands waits so many times for a processor, where a thread that only waits does once."""


async def bound(rig, promised: float) -> float:
    return promised + SLACK + HOPS * rig.stall.worst


# R-EXEC-2 R-PLAN-11
async def test_kill_9_of_a_worker_and_of_a_planner(rig):
    await rig.crew()
    await rig.load(a_second=A_SECOND, seconds=7)
    await rig.until_at(1)
    kill(rig.workers[0])
    await rig.until_at(3)
    kill(rig.planners[0])
    rig.worker()
    await rig.until_done()
    await rig.judge()
    assert await rig.lost() > 0, "it held something when it was killed"
    assert await rig.latest() <= await bound(rig, TTL + 1)


# R-EXEC-3 R-PLAN-3
async def test_a_frozen_worker_and_a_frozen_planner_come_back_as_zombies(rig):
    await rig.crew()
    await rig.load(a_second=A_SECOND, seconds=8)
    await rig.until_at(1)
    kill(rig.workers[0], signal.SIGSTOP)
    kill(rig.planners[0], signal.SIGSTOP)
    await rig.until("(select count(*) from detent.attempt where outcome = 'lost') > 0")
    await rig.until("(select count(distinct holder) from detent.shard) = 1")
    await rig.until_at(5)
    kill(rig.workers[0], signal.SIGCONT)
    kill(rig.planners[0], signal.SIGCONT)
    rig.workers[0].until("lease_lost")
    await rig.until_done()
    await rig.judge()
    assert await rig.latest() <= await bound(rig, TTL + 1)
    await rig.until("(select count(distinct holder) from detent.shard) = 2"), "the planner has its part again"


# R-RUN-6
async def test_postgresql_is_killed_and_all_its_sessions_are_ended(rig):
    await rig.crew(planners=1, workers=2)
    await rig.load(a_second=A_SECOND, seconds=9)
    await rig.until_at(1)
    rig.server.kill()
    rig.server.restart()
    back = await rig.value("select clock_timestamp()")
    await rig.until("(select count(*) from detent.attempt where started_at > $1) > 0", back, seconds=10)
    first = await rig.value("select min(started_at) from detent.attempt where started_at > $1", back)
    assert (first - back).total_seconds() <= await bound(rig, 5)
    await rig.until_at(6)
    connection = await asyncpg.connect(rig.database)
    ended = await connection.fetchval(
        "select count(pg_terminate_backend(pid)) from pg_stat_activity"
        " where datname = current_database() and pid <> pg_backend_pid()"
    )
    await connection.close()
    assert ended >= 6
    await rig.until_done()
    await rig.judge()
    assert await rig.latest(since=rig.begin.replace(microsecond=0)) <= await bound(rig, 8)


# R-RUN-5 R-EXEC-11
async def test_a_rolling_restart_makes_no_firing_late(rig):
    await rig.crew()
    await rig.load(a_second=A_SECOND, seconds=8)
    await rig.until_at(1)
    for old, start in [(p, rig.planner) for p in rig.planners] + [(w, rig.worker) for w in rig.workers]:
        start().until("started what=")
        old.signal(signal.SIGTERM)
    for process in rig.all[:2]:
        assert process.ends() == 0
    await rig.until_done()
    await rig.judge()
    assert await rig.lost() == 0
    assert await rig.latest() <= await bound(rig, 1)


# R-PLAN-11
async def test_a_planner_that_is_told_to_stop_hands_over_at_once(rig):
    await rig.crew(planners=2, workers=0)
    await rig.until("(select count(distinct holder) from detent.shard) = 2")
    rig.planners[0].signal(signal.SIGTERM)
    began = await rig.value("select clock_timestamp()")
    await rig.until(
        "(select count(distinct holder) = 1 and count(holder) = 256 from detent.shard)", seconds=5
    )
    gap = (await rig.value("select clock_timestamp()") - began).total_seconds()
    assert gap <= await bound(rig, 1)
    assert rig.planners[0].ends() == 0


async def test_short_pauses_cost_nobody_a_lease(rig):
    """A machine that swaps, a debugger: below the time to live, nothing changes hands."""
    rig.environment["DETENT_LEASE_TTL"] = "5"
    await rig.crew()
    await rig.until("(select count(holder) from detent.shard) = 256")
    await rig.until("(select count(distinct holder) from detent.shard) = 2")
    await rig.load(a_second=100, seconds=5, after=1)
    epochs = await rig.value("select sum(epoch) from detent.shard")
    for n in range(4):
        await rig.until_at(n)
        for process in (rig.planners[0], rig.workers[0]):
            kill(process, signal.SIGSTOP)
        await rig.until_at(n + 0.6)
        for process in (rig.planners[0], rig.workers[0]):
            kill(process, signal.SIGCONT)
    await rig.until_done()
    await rig.judge()
    assert await rig.lost() == 0
    assert await rig.value("select sum(epoch) from detent.shard") == epochs
    assert not [process for process in rig.all if "lease_lost" in process.text]


async def test_processes_end_in_peace_though_the_database_is_gone(rig):
    await rig.crew(planners=1, workers=1)
    await rig.load(a_second=50, seconds=60)
    await rig.until_at(0.5)
    rig.server.kill()
    try:
        for process in rig.all:
            process.until("store_lost")
            process.signal(signal.SIGTERM)
        assert [process.ends(seconds=40) for process in rig.all] == [0, 0]
        for process in rig.all:
            assert "Traceback" not in process.text, process.text
    finally:
        rig.server.restart()
