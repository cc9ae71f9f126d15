"""Everything but LISTEN works behind pgbouncer in transaction mode, with each process as its own role."""

from __future__ import annotations

import signal
import tempfile
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from detent.store import migrate
from detent.store.pool import connect, open_pool
from tests.cli.run import detent
from tests.e2e.rig import TTL, kill
from tests.e2e.test_faults import bound
from tests.pooler import USERS, pooler


@pytest.fixture(scope="module")
def bouncer(server):
    folder = Path(tempfile.mkdtemp(prefix="detent-pooler-"))
    with pooler(server, folder) as running:
        yield running


@pytest.fixture
async def pooled(rig, bouncer):
    """The rig's processes go through the pooler, as their roles; the pruner goes by itself."""
    connection = await asyncpg.connect(rig.database)
    for user in USERS[1:]:
        await connection.execute(f"alter role {user} login")
    await connection.close()
    rig.environment |= {
        "DETENT_POOLER": "1", "DETENT_LISTEN": "0", "DETENT_MAINTENANCE_URL": rig.database,
    }  # fmt: skip
    rig.planner_environment = {"DETENT_DATABASE_URL": bouncer.url(rig.database, "detent_planner")}
    rig.worker_environment = {"DETENT_DATABASE_URL": bouncer.url(rig.database, "detent_worker")}
    return rig


# R-RUN-2
async def test_a_whole_run_behind_a_pooler(pooled):
    await pooled.crew(planners=2, workers=2)
    await pooled.load(a_second=150, seconds=6)
    await pooled.until_at(1)
    kill(pooled.workers[0])
    await pooled.until_at(2)
    pooled.planners[0].signal(signal.SIGTERM)
    assert pooled.planners[0].ends() == 0
    await pooled.until_done()
    await pooled.judge()
    assert await pooled.lost() > 0
    assert await pooled.latest() <= await bound(pooled, TTL + 1)
    for process in pooled.all:
        assert "loop_failed" not in process.text, process.text


async def test_declaring_behind_a_pooler(pooled, bouncer, tmp_path):
    (tmp_path / "jobs.py").write_text(
        "from detent import Detent, every\napp = Detent('jobs')\n@app.task\nasync def work(): ...\n"
        "app.schedule('a', every('1h'), work)\n"
    )
    url = bouncer.url(pooled.database, "detent_api")
    for made in (1, 0):
        done = detent(
            "declare", "--app", "jobs:app", cwd=tmp_path, DETENT_DATABASE_URL=url, DETENT_POOLER="1"
        )
        assert done.returncode == 0, done.stderr
        assert f"changed={made}" in done.stderr
    worker = bouncer.url(pooled.database, "detent_worker")
    done = detent("declare", "--app", "jobs:app", cwd=tmp_path, DETENT_DATABASE_URL=worker, DETENT_POOLER="1")
    assert done.returncode == 1
    assert "this user may not write schedules" in done.stderr
    assert "run `detent declare` as a user who may, and workers with --no-declare" in done.stderr


async def test_time_outs_come_from_the_roles(pooled, bouncer):
    """Settings of a session would be those of whoever comes next."""
    settings = replace(
        pooled.settings, database_url=bouncer.url(pooled.database, "detent_worker"), pooler=True
    )
    connection = await connect(settings)
    assert await connection.fetchval("show statement_timeout") == "7s"
    assert await connection.fetchval("show idle_in_transaction_session_timeout") == "4s"
    await connection.close()


async def test_a_pool_shares_few_connections_among_many(pooled, bouncer):
    settings = replace(pooled.settings, database_url=bouncer.url(pooled.database, "postgres"), pooler=True)
    pool = await open_pool(settings, 8)
    seen = set()
    for n in range(50):
        async with pool.acquire() as connection, connection.transaction():
            seen.add(await connection.fetchval("select pg_backend_pid()"))
            assert await connection.fetchval("select $1::int + 1", n) == n + 1
        async with pool.acquire() as connection:
            assert await connection.fetch("select $1::text as a", str(n)) == [(str(n),)]
    await pool.close()
    assert seen


async def test_migrating_goes_past_the_pooler(pooled, bouncer):
    """As the README of a deployment has it: DETENT_MAINTENANCE_URL is direct."""
    connection = await asyncpg.connect(pooled.database)
    assert await migrate.pending(connection) == []
    await connection.close()
    done = detent("migrate", "--check", DETENT_DATABASE_URL=bouncer.url(pooled.database, "postgres"),
                  DETENT_MAINTENANCE_URL=pooled.database)  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "the schema is of this version\n")
