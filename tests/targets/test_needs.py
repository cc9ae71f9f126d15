"""Firings are left to the workers that can do them."""

from __future__ import annotations

import json

import asyncpg
import pytest

from detent.commands.schedules import Actor, Commands
from detent.domain.need import NOTHING, need_of
from detent.domain.schedule import read_work
from detent.observe.events import Events, TaskUnknown
from detent.store import claiming, nodes
from detent.targets.registry import Registry
from detent.targets.target import TargetError
from detent.targets.task import TaskTarget, make_task
from detent.worker.strangers import Strangers
from tests.races.scene import AHEAD, LONG_AGO

ME = Actor(by="ada")
LANE = 14
NIGHTLY = {"name": "s", "trigger": {"cron": "0 2 * * *"}, "target": {"task": "nightly"}}


async def nothing() -> None:
    """What these tasks do."""


def registry(*names: str) -> Registry:
    return Registry({"task": TaskTarget({name: make_task(nothing, name) for name in names}, places=1)})


@pytest.fixture
def commands(connection, settings):
    return Commands(connection=connection, settings=settings)


@pytest.fixture
async def claim(connection):
    await nodes.register_node(connection, 7, "worker", "1", "2026a", 3600)

    async def by(registry):
        rows = await claiming.claim(connection, 7, "default", {LANE: 100}, [LONG_AGO], AHEAD, registry.needs)
        return [json.loads(row["work"])["target"]["task"] for row in rows]

    return by


def test_what_a_firing_needs_is_its_task_or_the_kind_of_its_target():
    assert need_of({"task": "a"}) == need_of({"task": "a"}) != need_of({"task": "b"})
    assert need_of({"http": {"url": "a"}}) == need_of({"http": {"url": "b"}})
    every = {need_of({"task": f"t{n}"}) for n in range(10_000)}
    assert len(every) == 10_000
    assert NOTHING not in every
    assert max(every) < 1 << 31


# R-TARGET-5
async def test_a_worker_claims_what_it_can_do_and_leaves_the_rest_to_others(commands, claim):
    for name in ("nightly", "hourly"):
        await commands.create({**NIGHTLY, "name": name, "target": {"task": name}}, ME)
        await commands.trigger(name, ME)
    assert await claim(registry("other")) == []
    assert await claim(registry("hourly", "other")) == ["hourly"]
    assert await claim(registry("nightly")) == ["nightly"]


async def test_it_follows_the_schedule_when_that_gets_another_task(commands, connection, claim):
    await commands.create(NIGHTLY, ME)
    await commands.trigger("s", ME)
    await commands.edit("s", {**NIGHTLY, "target": {"task": "other"}}, ME)
    await commands.trigger("s", ME)
    assert await claim(registry("nightly")) == []
    assert await claim(registry("other")) == ["other"]  # one at a time
    await connection.execute("delete from detent.running")
    assert await claim(registry("other")) == ["other"]


async def test_what_nobody_fetches_is_told_once_in_a_while(commands, connection, database):
    await commands.create(NIGHTLY, ME)
    for _ in range(3):
        await commands.trigger("s", ME)
    told = []
    pool = await asyncpg.create_pool(database, min_size=1, max_size=1)
    strangers = Strangers(pool, ["default"], registry("other"), Events(told.append))
    try:
        await strangers.tick()
        assert told == []  # who can do it may be about to take it
        await connection.execute("update detent.waiting set due_at = due_at - interval '3 s'")
        await strangers.tick()
        await strangers.tick()
        assert told == [TaskUnknown(pool="default", task="nightly")]
        await Strangers(pool, ["default"], registry("nightly"), Events(told.append)).tick()
        await Strangers(pool, ["billing"], registry("other"), Events(told.append)).tick()
        assert len(told) == 1
    finally:
        pool.terminate()


async def test_what_was_claimed_and_cannot_be_done_says_so():
    """As good as never: two tasks would have to have the same number."""
    for work, message in [
        ({"target": {"task": "x"}}, 'this worker has no task "x"'),
        ({"target": {"smoke": {}}}, 'this worker knows no target "smoke": known is task'),
        ({"target": {"task": "a", "b": 1}}, "the work of this schedule can't be read"),
        ({"target": {"task": ""}}, "a task has a name"),
        ("no work", "can't be read"),
    ]:
        call = registry("other").call(json.dumps(work))
        with pytest.raises(TargetError, match=message):
            await call.begin(None)


async def test_a_call_is_made_once_a_text():
    known = registry("nightly")
    text = json.dumps({"target": {"task": "nightly"}, "timeout": "2s", "overlap": "queue"})
    call = known.call(text)
    assert known.call(text) is call
    assert (call.timeout_seconds, call.wakes, call.wants_context) == (2.0, True, False)
    assert call.work == read_work(text)
    await known.close()
