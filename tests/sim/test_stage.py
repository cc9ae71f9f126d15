"""The simulation itself: it plays the same way each time, and its sessions meet as real ones do."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from random import Random

import asyncpg
import pytest

from detent import clock
from tests.sim.director import Director, Weather
from tests.sim.pace import IDLE_IN_TRANSACTION_TIMEOUT, LOCK_TIMEOUT
from tests.sim.run import simulate

NOON = datetime(2026, 3, 8, 12, tzinfo=UTC)
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def director(stage):
    stage.ask(
        stage.watcher.execute(
            "drop table if exists sim.thing; create table sim.thing (id int primary key, n int)"
        )
    )
    stage.ask(stage.watcher.execute("insert into sim.thing values (1, 0), (2, 0)"))
    made = Director(stage, Random(1), Weather(), NOON, pytest.fail)
    yield made
    for process in list(made.processes):
        process.kill()
    stage.rest()


class Scene:
    """Processes, each of which runs a coroutine with a connection of its own."""

    def __init__(self, director: Director) -> None:
        self.director = director
        self.ends: dict[str, object] = {}

    def play(self, name, act) -> None:
        process = self.director.process(name)

        async def run() -> None:
            try:
                self.ends[name] = await act(process.connect())
            except Exception as error:  # noqa: BLE001
                self.ends[name] = type(error)

        process.begin(run())
        self.director.go(process)

    def value(self, sql: str) -> object:
        return self.director.server.ask(self.director.server.watcher.fetchval(sql))


@pytest.fixture
def scene(director):
    return Scene(director)


def adds(row: int, *, then=None):
    async def act(connection):
        async with connection.transaction():
            await connection.execute("update sim.thing set n = n + 1 where id = $1", row)
            if then is not None:
                await then(connection)
        return "done"

    return act


async def never(connection):
    await connection._session.process.create_future()


@pytest.mark.parametrize("seed", [2, 11, 26])
def test_a_seed_plays_the_same_way_each_time(stage, seed):
    first, second = simulate(stage, seed), simulate(stage, seed)
    assert first.trace == second.trace
    assert first.steps > 100


def test_a_seed_plays_the_same_way_in_every_process():
    """Whatever order sets of texts have there."""
    played = set()
    for hashes in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-m", "tests.sim", "--seed", "7"], cwd=ROOT, capture_output=True, check=False,
            env={**os.environ, "PYTHONHASHSEED": hashes},
        )  # fmt: skip
        played.add(sha256(done.stderr).hexdigest())
    assert len(played) == 1


def test_sessions_that_meet_wait_for_one_another(scene):
    for number in range(5):
        scene.play(f"p{number}", adds(1))
    scene.director.run(10)
    assert scene.ends == {f"p{number}": "done" for number in range(5)}
    assert scene.value("select n from sim.thing where id = 1") == 5


def test_who_waits_for_a_lock_too_long_fails_and_the_others_go_on(scene):
    async def stay(connection):
        for _ in range(20):
            await connection.execute("select 1")
            await clock.sleep(LOCK_TIMEOUT / 10)

    scene.play("keeper", adds(1, then=stay))
    scene.director.run(0.1)
    scene.play("waiter", adds(1))
    scene.director.run(10)
    assert scene.ends == {"keeper": "done", "waiter": asyncpg.LockNotAvailableError}


def test_of_two_that_wait_for_each_other_one_fails(scene):
    scene.director.weather.latency = 0.1
    scene.play("one", adds(1, then=lambda c: c.execute("update sim.thing set n = n + 1 where id = 2")))
    scene.play("two", adds(2, then=lambda c: c.execute("update sim.thing set n = n + 1 where id = 1")))
    scene.director.run(10)
    assert sorted(map(str, scene.ends.values())) == sorted(["done", str(asyncpg.DeadlockDetectedError)])


def test_a_transaction_that_is_left_open_ends_by_itself(scene):
    scene.play("sleeper", adds(1, then=never))
    scene.director.run(IDLE_IN_TRANSACTION_TIMEOUT / 2)
    scene.play("other", adds(1))
    scene.director.run(IDLE_IN_TRANSACTION_TIMEOUT * 2)
    assert scene.ends == {"other": "done"}
    assert scene.value("select n from sim.thing where id = 1") == 1


def test_a_call_that_is_never_answered_fails_in_time_and_its_effect_may_stay(scene):
    process_of = {}

    async def act(connection):
        process_of["it"] = connection._session.process
        await connection.execute("update sim.thing set n = n + 1 where id = 1")

    scene.director.on_call.append(
        lambda call: setattr(process_of["it"], "cut", True) if call.result else None
    )
    scene.play("cut", act)
    scene.director.run(10)
    assert scene.ends == {"cut": TimeoutError}
    assert scene.value("select n from sim.thing where id = 1") == 1


def test_a_lost_answer_keeps_the_effect_and_a_lost_request_has_none(scene):
    async def act(connection):
        await connection.execute("update sim.thing set n = n + 1 where id = 1")

    scene.director.weather.lost_answer = 1.0
    scene.play("one", act)
    scene.director.run(1)
    scene.director.weather.lost_answer, scene.director.weather.lost_request = 0.0, 1.0
    scene.play("two", act)
    scene.director.run(2)
    gone = asyncpg.ConnectionDoesNotExistError
    assert scene.ends == {"one": gone, "two": gone}
    assert scene.value("select n from sim.thing where id = 1") == 1
