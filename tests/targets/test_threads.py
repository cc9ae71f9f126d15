"""Threads of tasks: as many as needed, told of cancellations, left alone when they don't listen."""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from detent.targets import threads as module
from detent.targets.threads import Threads
from tests.house import wait_until

CARRIED: contextvars.ContextVar[str] = contextvars.ContextVar("carried")


@pytest.fixture
async def threads():
    made = Threads(2)
    yield made
    made.close()


async def test_a_result_and_an_error_come_back_to_the_loop(threads):
    def fails():
        raise StopIteration("even this")

    assert await threads.run(threading.current_thread) is not threading.current_thread()
    with pytest.raises(RuntimeError, match="StopIteration"):
        await threads.run(fails)
    with pytest.raises(SystemExit):
        await threads.run(lambda: exec("raise SystemExit(3)"))


async def test_context_variables_are_carried_there_and_not_back(threads):
    def looks():
        seen = CARRIED.get()
        CARRIED.set("there")
        return seen

    CARRIED.set("here")
    assert await threads.run(looks) == "here"
    assert CARRIED.get() == "here"


async def test_threads_are_used_again_and_end_when_they_are_idle(threads, monkeypatch):
    monkeypatch.setattr(module, "_IDLE_SECONDS", 0.05)
    assert len({await threads.run(threading.get_ident) for _ in range(50)}) == 1

    async def all_have_ended():
        await asyncio.sleep(0)
        return not threads._alive

    await wait_until(all_have_ended)
    assert await threads.run(lambda: "again") == "again"


async def test_many_run_at_once_and_no_more_than_allowed():
    threads, gate, running, most = Threads(10), threading.Event(), [], []

    def waits():
        running.append(1)
        most.append(len(running))
        gate.wait(10)
        running.pop()

    every = [asyncio.create_task(threads.run(waits)) for _ in range(40)]

    async def are_under_way():
        await asyncio.sleep(0)
        return len(running) == 20  # ten, and as many that may have been given up

    await wait_until(are_under_way)
    gate.set()
    await asyncio.gather(*every)
    assert max(most) == 20
    threads.close()


async def test_who_is_cancelled_before_it_began_does_not_begin():
    threads, gate, began = Threads(1), threading.Event(), []
    hogs = [asyncio.create_task(threads.run(lambda: gate.wait(10))) for _ in range(2)]
    late = asyncio.create_task(threads.run(lambda: began.append(1)))
    await asyncio.sleep(0)
    late.cancel()
    with pytest.raises(asyncio.CancelledError):
        await late
    gate.set()
    await asyncio.gather(*hogs)
    assert await threads.run(lambda: "next") == "next"
    assert not began
    threads.close()


async def test_who_is_cancelled_while_it_runs_is_waited_for(threads):
    gate, begun = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def waits():
        loop.call_soon_threadsafe(begun.set)
        gate.wait(10)
        return "done"

    running = asyncio.create_task(threads.run(waits))
    await begun.wait()
    for _ in range(3):
        running.cancel()
        await asyncio.sleep(0)
    assert not running.done()
    gate.set()
    assert await running == "done"


async def test_a_loop_that_is_gone_is_not_waited_for():
    threads, gate, ended = Threads(1), threading.Event(), threading.Event()

    def waits():
        gate.wait(10)
        return "too late"

    def in_a_loop_of_its_own():
        async def begin():
            task = asyncio.create_task(threads.run(waits))
            await asyncio.sleep(0)
            task._log_destroy_pending = False

        loop = asyncio.new_event_loop()
        loop.run_until_complete(begin())
        loop.close()
        ended.set()

    threading.Thread(target=in_a_loop_of_its_own).start()
    assert await asyncio.to_thread(ended.wait, 10)
    gate.set()
    threads.close()
