"""Runs that take twice as long as their schedule's last ones."""

from __future__ import annotations

import asyncio

import pytest

from detent.observe.events import OverLong
from detent.store import concluding
from detent.worker import watch

RUNS = """
with t as (select now() - n * interval '1 min' as at, n from generate_series(1, cardinality($2::float8[])) n),
f as (insert into detent.firing (schedule_id, scheduled_for, due_at, kind, revision, tenant_id)
      select $1, at, at, 'slot', 1, 1 from t)
insert into detent.attempt (schedule_id, scheduled_for, number, outcome, final, started_at, finished_at, tenant_id)
select $1, at, 1, $3, true, at, at + make_interval(secs => ($2::float8[])[n]), 1 from t
"""


async def ran(connection, schedule_id, seconds, outcome="succeeded"):
    """Runs of so many seconds, the last one first."""
    await connection.execute(RUNS, schedule_id, seconds, outcome)


async def usual(connection, schedule_id=1):
    since = await connection.fetchval("select now() - interval '7 days'")
    return await concluding.usual_duration(connection, schedule_id, since)


# R-EXEC-12
async def test_what_is_usual_is_the_95th_percentile_of_the_last_hundred(connection):
    await ran(connection, 1, [float(n) for n in range(1, 101)] + [10_000.0] * 50)
    assert await usual(connection) == pytest.approx(95.05)


async def test_ten_runs_are_enough_and_nine_are_not(connection):
    await ran(connection, 1, [2.0] * 9)
    assert await usual(connection) is None
    await ran(connection, 2, [2.0] * 10)
    assert await usual(connection, 2) == 2.0


async def test_runs_that_failed_say_nothing_of_how_long_one_takes(connection):
    await ran(connection, 1, [1.0] * 20, "failed")
    assert await usual(connection) is None


# R-EXEC-12
async def test_a_run_of_twice_the_usual_time_is_told_of(crew, monkeypatch):
    monkeypatch.setattr(watch, "_LOOK_AT_DURATION_SECONDS", 0.05)
    go_on = asyncio.Event()

    async def long() -> None:
        await go_on.wait()

    schedule_id = await crew.does(long)
    await ran(crew.watcher, schedule_id, [0.1] * 20)
    worker = await crew.hire()
    (when,) = await crew.fire("long")
    async with asyncio.timeout(10):
        while not crew.told_of(OverLong):
            await crew.watcher.execute("select pg_sleep(0.05)")
    go_on.set()
    (event,) = crew.told_of(OverLong)
    assert (event.schedule_id, event.scheduled_for, event.expected_seconds) == (
        schedule_id,
        when,
        pytest.approx(0.1),
    )
    assert event.seconds > 0.2
    assert worker is not None


async def test_a_schedule_that_had_too_few_runs_is_looked_at_again(crew, monkeypatch):
    monkeypatch.setattr(watch, "_LOOK_AT_DURATION_SECONDS", 0.05)
    monkeypatch.setattr(watch, "_REMEMBERED_SECONDS", 0.1)
    go_on = asyncio.Event()

    async def long() -> None:
        await go_on.wait()

    schedule_id = await crew.does(long)
    await crew.hire()
    await crew.fire("long")
    await crew.until("(select count(*) from detent.running) = 1")
    await crew.watcher.execute("select pg_sleep(0.5)")
    assert not crew.told_of(OverLong)
    await ran(crew.watcher, schedule_id, [0.1] * 20)
    async with asyncio.timeout(10):
        while not crew.told_of(OverLong):
            await crew.watcher.execute("select pg_sleep(0.05)")
    go_on.set()
