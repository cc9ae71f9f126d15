"""`detent worker` and `detent planner` as processes: how they start, are supervised, and end."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import asyncpg
import pytest

from tests.cli.run import Running, detent
from tests.postgres import until

APP = """
from detent import Detent, every

app = Detent("jobs")

@app.task
async def work() -> None: ...

app.schedule("here", every("1m"), work)
app.schedule("elsewhere", every("1m"), work, pool="reports")
"""
LIVE = "select count(*) from detent.node where lease_expires_at > now()"


@pytest.fixture
def jobs(tmp_path) -> Path:
    (tmp_path / "jobs.py").write_text(APP)
    return tmp_path


@pytest.fixture
async def watcher(database):
    connection = await asyncpg.connect(database)
    yield connection
    await connection.close()


def worker(jobs: Path, database: str, *more: str) -> Running:
    return Running("worker", "--app", "jobs:app", *more, cwd=jobs, DETENT_DATABASE_URL=database)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


# R-EXEC-8
async def test_a_worker_serves_its_pools_and_tells_what_it_leaves_out(jobs, database, watcher):
    with worker(jobs, database, "--log", "json", "--pool", "default", "--pool", "fast") as one:
        one.until("started.*pools default, fast; 1 task; 200 at once")
        told = {event["event"]: event for event in map(json.loads, one.lines)}
        assert told["schedules_declared"] | {"at": ""} == {
            "at": "", "level": "info", "event": "schedules_declared", "app": "jobs", "changed": 2, "unchanged": 0, "left": 0,
        }  # fmt: skip
        assert (told["pool_not_served"]["pool"], told["pool_not_served"]["level"]) == ("reports", "warning")
        await until(watcher, f"({LIVE}) = 1")
        one.signal(signal.SIGTERM)
        assert one.ends() == 0
        assert json.loads(one.lines[-1])["event"] == "stopped"
    assert not await watcher.fetchval(LIVE), "it left in peace"


async def test_processes_are_started_again_when_they_die_and_stop_together(jobs, database, watcher):
    with worker(jobs, database, "--processes", "2") as two:
        await until(watcher, f"({LIVE}) = 2", seconds=30)
        first, second = children(two.process.pid)
        os.kill(first, signal.SIGKILL)
        two.until("process_ended process=1 code=-9 again_in_seconds=0.200")
        await until(watcher, "(select count(*) from detent.node) = 3", seconds=30)
        assert second in children(two.process.pid)
        two.signal(signal.SIGTERM)
        assert two.ends() == 0
        assert len(re.findall("stopped what=worker", two.text)) == 2
    assert await watcher.fetchval(LIVE) <= 1, "those that were told left in peace"


async def test_processes_are_not_left_behind(jobs, database, watcher):
    with worker(jobs, database, "--processes", "2") as two:
        await until(watcher, f"({LIVE}) = 2", seconds=30)
        two.signal(signal.SIGKILL)
        await until(watcher, f"({LIVE}) = 0", seconds=30)
        two.until("stopped what=worker")


async def test_twice_ends_processes_at_once(jobs, database, watcher):
    with worker(jobs, database, "--processes", "2") as two:
        await until(watcher, f"({LIVE}) = 2", seconds=30)
        for child in children(two.process.pid):
            os.kill(child, signal.SIGSTOP)  # it won't end by itself
        two.signal(signal.SIGTERM)
        two.until("stopping what=.2 processes")
        two.signal(signal.SIGTERM)
        assert two.ends() == 128 + signal.SIGTERM


@pytest.mark.parametrize("processes", ["1", "2"])
def test_what_is_wrong_at_the_start_ends_it_with_a_word(jobs, database, processes):
    done = detent(
        "worker", "--app", "jobs:ap", "--processes", processes, cwd=jobs, DETENT_DATABASE_URL=database
    )
    assert done.returncode == 2
    assert 'detent: module jobs has no app "ap": it has app' in done.stderr


@pytest.mark.parametrize("command", [("planner",), ("worker", "--app", "jobs:app")])
def test_without_a_database_it_says_what_to_do(jobs, command):
    done = detent(*command, cwd=jobs)
    assert (done.returncode, done.stderr) == (
        2, "detent: no database: set DETENT_DATABASE_URL, or use `detent dev`, which brings its own\n",
    )  # fmt: skip
    url = "postgresql://ada:secret@127.0.0.1:1/shop"
    done = detent(*command, cwd=jobs, DETENT_DATABASE_URL=url)
    assert done.returncode == 2
    assert "the database can't be reached: " in done.stderr
    assert "is this where it is: postgresql://ada:***@127.0.0.1:1/shop?" in done.stderr
    assert "secret" not in done.stderr


def test_an_empty_database_wants_its_tables(jobs, empty_database):
    for command in (("planner",), ("worker", "--app", "jobs:app")):
        done = detent(*command, cwd=jobs, DETENT_DATABASE_URL=empty_database)
        assert done.returncode == 2
        assert "run `detent migrate`" in done.stderr


def test_a_grace_that_is_none_is_refused(jobs, database):
    done = detent("worker", "--app", "jobs:app", "--grace", "soon", cwd=jobs, DETENT_DATABASE_URL=database)
    assert (done.returncode, done.stderr) == (
        2, 'detent: "soon" is no duration: write a whole number and a unit, such as 90s, 10m, 2h or 1h30m\n',
    )  # fmt: skip
