"""The loop that every part of Detent runs on."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import pytest

from detent import clock, runner
from detent.observe.events import Events, LoopFailed, LoopRecovered, StoreBack, StoreLost
from detent.runner import Loop, Outage


class Script:
    """A tick that does what it is told, one thing after the other, and then stops its loop."""

    def __init__(self, *steps: Any) -> None:
        self.steps = list(steps)
        self.ticks = 0
        self.moved = asyncio.Condition()
        self.told: list[Any] = []
        events = Events(self.told.append)
        self.loop = Loop("work", self.tick, every=3600, events=events, outage=Outage(events))

    async def until(self, ticks: int) -> None:
        async with self.moved, asyncio.timeout(10):
            await self.moved.wait_for(lambda: self.ticks >= ticks)

    async def tick(self) -> bool:
        self.ticks += 1
        async with self.moved:
            self.moved.notify_all()
        step = self.steps.pop(0) if self.steps else False
        if not self.steps:
            self.loop.stop()
        if isinstance(step, BaseException):
            raise step
        return bool(step)

    async def run(self) -> None:
        async with asyncio.timeout(10):
            await self.loop.run()


def idle(tick: Any) -> Loop:
    """A loop of which nothing is told."""
    return Loop("work", tick, every=3600, events=Events(), outage=Outage(Events()))


@pytest.fixture
def pauses(monkeypatch):
    """How long the runner would have waited after failures."""
    taken: list[float] = []

    async def sleep(seconds: float) -> None:
        taken.append(seconds)
        await asyncio.sleep(0)

    monkeypatch.setattr(clock, "sleep", sleep)
    return taken


async def test_a_loop_ticks_on_at_once_while_there_is_more_and_then_waits(pauses):
    script = Script(True, True, False)
    await script.run()
    assert script.ticks == 3
    assert pauses == []


async def test_a_hint_brings_the_next_tick_forward():
    script = Script(False, False, False)
    running = asyncio.create_task(script.run())
    for ticks in (1, 2, 3):
        await script.until(ticks)
        script.loop.wake()
    await running


async def test_a_hint_during_a_tick_is_not_lost():
    ticks = 0

    async def tick() -> bool:
        nonlocal ticks
        ticks += 1
        if ticks == 1:
            loop.wake()
        else:
            loop.stop()
        return False

    loop = idle(tick)
    async with asyncio.timeout(5):
        await loop.run()
    assert ticks == 2


LOST = asyncpg.ConnectionDoesNotExistError("gone")


async def test_failures_are_survived_with_growing_jittered_pauses_and_said_once(pauses):
    script = Script(*[LOST] * 12, False)
    await script.run()
    assert script.ticks == 13
    for n, pause in enumerate(pauses, 1):
        longest = min(2.0, 0.1 * 2**n)
        assert longest / 2 <= pause <= longest
    assert len(set(pauses)) == len(pauses), "the herd is spread"
    assert [type(event) for event in script.told] == [StoreLost, StoreBack]


async def test_pauses_begin_short_again_after_a_recovery(pauses):
    script = Script(*[LOST] * 6, True, LOST, False)
    await script.run()
    assert pauses[-1] <= 0.2
    assert [type(event) for event in script.told] == [StoreLost, StoreBack] * 2


async def test_what_is_no_ordinary_loss_is_said_each_time(pauses):
    deadlock = asyncpg.DeadlockDetectedError("deadlock")
    script = Script(deadlock, ValueError("a bug"), deadlock, ZeroDivisionError("another"), False)
    await script.run()
    assert [event.error for event in script.told[:-1]] == [
        "DeadlockDetectedError: deadlock", "ValueError: a bug", "ZeroDivisionError: another",
    ]  # fmt: skip
    assert script.told[-1] == LoopRecovered(loop="work", failures=4)


async def test_what_the_tasks_of_a_tick_raise_together_is_told_by_what_it_is(pauses):
    group = ExceptionGroup("of a task group", [LOST, ExceptionGroup("nested", [LOST])])
    bug = ExceptionGroup("of a task group", [LOST, ValueError("a bug")])
    script = Script(group, group, True, bug, False)
    await script.run()
    assert [type(event) for event in script.told] == [StoreLost, StoreBack, LoopFailed, LoopRecovered]
    assert [event.error for event in script.told if hasattr(event, "error")] == [
        "ConnectionDoesNotExistError: gone", "ValueError: a bug",
    ]  # fmt: skip


async def test_the_loss_of_the_database_is_said_once_for_all_loops_of_a_process(pauses):
    told: list[Any] = []
    events = Events(told.append)
    outage, scripts = Outage(events), [Script(LOST, LOST, False), Script(True, LOST, LOST, LOST, False)]
    for n, script in enumerate(scripts):
        script.loop = Loop(f"work {n}", script.tick, every=3600, events=events, outage=outage)
    async with asyncio.timeout(10):
        await asyncio.gather(*(script.loop.run() for script in scripts))
    assert [type(event) for event in told] == [StoreLost, StoreBack]


async def test_who_cares_is_told_of_each_failure(pauses):
    script, failures = Script(LOST, LOST, False), []
    script.loop.on_failure = lambda: failures.append(1)
    await script.run()
    assert len(failures) == 2


async def test_a_tick_that_hangs_is_cut_off(pauses, monkeypatch):
    monkeypatch.setattr(runner, "_TICK_SECONDS", 0.01)
    ticks = 0

    async def tick() -> bool:
        nonlocal ticks
        ticks += 1
        if ticks == 1:
            await asyncio.Event().wait()
        loop.stop()
        return False

    loop = idle(tick)
    await loop.run()
    assert ticks == 2


async def test_a_loop_that_is_cancelled_ends():
    loop = idle(asyncio.Event().wait)
    running = asyncio.create_task(loop.run())
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
