"""The effects of ctx.transaction() happen exactly once, though the worker is killed or frozen wherever it may be."""

from __future__ import annotations

import signal
from contextlib import asynccontextmanager

import asyncpg
import pytest

from detent.commands.schedules import Actor, Commands
from detent.store import audit
from tests.e2e.effects import AFTER_IT, BEFORE_THE_COMMIT, SCHEMA
from tests.e2e.rig import SECOND, kill
from tests.postgres import until

ADA = Actor(by="ada")
WAITS_THERE = (
    "exists (select from pg_locks where locktype = 'advisory' and not granted"
    " and objid::bigint = hashtext($1)::bigint & 4294967295)"
)


@asynccontextmanager
async def stage(rig, place):
    """A worker that pays, and stands at that place."""
    connection = await asyncpg.connect(rig.database)
    try:
        await connection.execute(SCHEMA)
        await connection.execute("select pg_advisory_lock(hashtext($1))", place)
        commands = Commands(connection=connection, settings=rig.settings)
        spec = {
            "name": "pay", "trigger": {"cron": "0 0 1 1 *"}, "target": {"task": "pay"},
            "retry": {"max_attempts": 5, "delays": ["10ms"]},
        }  # fmt: skip
        await commands.create(spec, ADA)
        rig.worker("tests.e2e.effects:app")
        at = await commands.trigger("pay", ADA)
        await until(connection, WAITS_THERE, place, seconds=60)
        yield connection
        assert await audit.breaches(connection, at - SECOND, at + SECOND) == []
    finally:
        await connection.close()


async def let_go(connection, place):
    await connection.execute("select pg_advisory_unlock(hashtext($1))", place)


async def judged(connection):
    """The attempt that paid, when all is over, and how all of them ended."""
    await until(connection, "(select count(*) from detent.attempt where final) = 1", seconds=60)
    await until(connection, "not exists (select from detent.running)", seconds=60)
    ends = await connection.fetch("select number, outcome from detent.attempt order by number")
    paid = await connection.fetch("select attempt from effect")
    assert len(paid) == 1, "exactly once"
    assert (paid[0]["attempt"], "succeeded") in {tuple(end) for end in ends}
    return paid[0]["attempt"], [end["outcome"] for end in ends]


# R-TARGET-6
@pytest.mark.parametrize("place", BEFORE_THE_COMMIT)
async def test_killed_before_the_commit_nothing_is_written_and_another_pays(rig, place):
    async with stage(rig, place) as connection:
        kill(rig.workers[0])
        await let_go(connection, place)
        rig.worker("tests.e2e.effects:app")
        assert await judged(connection) == (2, ["lost", "succeeded"])


# R-TARGET-6
@pytest.mark.parametrize("place", AFTER_IT)
async def test_killed_after_the_commit_was_sent_it_has_paid_and_nobody_pays_again(rig, place):
    async with stage(rig, place) as connection:
        kill(rig.workers[0])
        await let_go(connection, place)
        rig.worker("tests.e2e.effects:app")
        assert await judged(connection) == (1, ["succeeded"])


# R-TARGET-6 R-EXEC-3
@pytest.mark.parametrize("place", BEFORE_THE_COMMIT)
async def test_a_frozen_worker_that_wakes_when_another_has_paid_writes_nothing(rig, place):
    async with stage(rig, place) as connection:
        kill(rig.workers[0], signal.SIGSTOP)
        await let_go(connection, place)
        rig.worker("tests.e2e.effects:app")
        assert await judged(connection) == (2, ["lost", "succeeded"])
        kill(rig.workers[0], signal.SIGCONT)
        rig.workers[0].until("lease_lost")
        await until(connection, "(select count(*) from detent.stale_result) = 1", seconds=30)
        assert await judged(connection) == (2, ["lost", "succeeded"])
