"""Tasks that are no coroutine functions: in threads, with a context that waits."""

from __future__ import annotations

import asyncio
import contextvars
import json
import threading
from datetime import timedelta

from detent import SyncContext
from detent.observe.events import AttemptEnded
from detent.worker import watch

LEFT_BEHIND: contextvars.ContextVar[str] = contextvars.ContextVar("left_behind")


# R-TARGET-5
async def test_a_function_runs_in_a_thread_with_its_arguments(crew):
    where = []

    def add(a: int, b: int) -> dict[str, int]:
        where.append(threading.current_thread())
        return {"sum": a + b}

    await crew.does(add, payload={"a": 1, "b": 2})
    await crew.hire()
    await crew.fire("add")
    await crew.concluded(1)
    assert await crew.ends("add") == [(1, "succeeded", True)]
    assert json.loads(await crew.last("excerpt", "add")) == {"sum": 3}
    assert where[0] is not threading.current_thread()


# R-TARGET-5
async def test_its_context_knows_the_firing_and_tells_of_it(crew):
    seen: list[SyncContext] = []

    def long(ctx: SyncContext) -> bool:
        seen.append(ctx)
        return ctx.progress(0.5, "half way") and ctx.heartbeat()

    schedule_id = await crew.does(long, timeout="1h")
    await crew.hire()
    (at,) = await crew.fire("long")
    await crew.concluded(1)
    (ctx,) = seen
    assert (ctx.schedule, ctx.schedule_id, ctx.tenant_id, ctx.attempt) == ("long", schedule_id, 1, 1)
    assert (ctx.scheduled_for, ctx.catch_up) == (at, False)
    assert ctx.idempotency_key == ctx.firing_id
    assert timedelta(minutes=59) < ctx.deadline - at < timedelta(minutes=61)
    assert 3500 < ctx.remaining <= 3600
    assert await crew.last("excerpt", "long") == "true"
    assert tuple(await crew.watcher.fetchrow("select done, note from detent.progress")) == (0.5, "half way")


async def test_what_it_raises_is_its_outcome_with_its_own_frames_alone(crew):
    def broken() -> None:
        raise ValueError("no luck")

    await crew.does(broken, retry={"max_attempts": 1})
    await crew.hire()
    await crew.fire("broken")
    await crew.until("(select count(*) from detent.dead) = 1")
    assert await crew.last("error", "broken") == "ValueError: no luck"
    trace = await crew.last("excerpt", "broken")
    assert 'raise ValueError("no luck")' in trace
    assert "threads.py" not in trace.replace("test_threads.py", "")


# R-EXEC-7
async def test_a_time_out_is_told_to_it_and_it_ends_when_it_looks(crew):
    told = []

    def patient(ctx: SyncContext) -> None:
        try:
            while True:
                ctx.check()
        finally:
            told.append(ctx.cancelled)

    await crew.does(patient, timeout="100ms", retry={"max_attempts": 1})
    await crew.hire()
    await crew.fire("patient")
    await crew.until("(select count(*) from detent.dead) = 1")
    assert await crew.ends("patient") == [(1, "timed_out", False)]
    assert told == [True]


async def test_its_seat_is_taken_as_long_as_its_code_runs(crew):
    go_on, seen = threading.Event(), []

    def deaf(ctx: SyncContext) -> str:
        go_on.wait(20)
        seen.append(ctx.cancelled)
        return "it was done after all"

    await crew.does(deaf, timeout="50ms", overlap="queue")
    await crew.hire()
    await crew.fire("deaf", 2)
    await crew.until("(select count(*) from detent.waiting where held = 'queued') = 1")
    await crew.until("now() > (select min(started_at) from detent.running) + interval '0.3 s'")
    assert await crew.ends("deaf") == []
    go_on.set()
    await crew.concluded(2)
    assert await crew.ends("deaf") == [(1, "succeeded", True), (1, "succeeded", True)]
    assert seen == [True, False]


# R-EXEC-7
async def test_one_that_hangs_is_given_up_and_the_worker_lives(crew, monkeypatch):
    monkeypatch.setattr(watch, "_TELL_AGAIN_SECONDS", 0.1)
    monkeypatch.setattr(watch, "_GIVE_UP_SECONDS", 0.5)
    go_on = threading.Event()

    def hangs() -> None:
        go_on.wait(20)

    def other() -> str:
        return "lives"

    await crew.does(hangs, timeout="50ms", retry={"max_attempts": 1})
    await crew.does(other)
    await crew.hire(concurrency=1)
    await crew.fire("hangs")
    await crew.until("(select count(*) from detent.dead) = 1")
    assert await crew.ends("hangs") == [(1, "timed_out", False)]
    assert "it did not end when it was cancelled" in await crew.last("error", "hangs")
    await crew.fire("other")
    await crew.concluded(1)
    go_on.set()
    assert await crew.ends("other") == [(1, "succeeded", True)]


async def test_a_worker_that_stops_does_not_wait_for_a_deaf_thread(crew):
    go_on = threading.Event()

    def deaf() -> None:
        go_on.wait(30)

    await crew.does(deaf)
    worker = await crew.hire()
    await crew.fire("deaf")
    await crew.until("(select count(*) from detent.running) = 1")
    await crew.stop(worker, 0.0)
    go_on.set()
    await crew.until("(select count(*) from detent.running) = 1")
    await crew.hire()
    await crew.concluded(1)
    assert await crew.ends("deaf") == [(1, "lost", False), (2, "succeeded", True)]


async def test_context_variables_of_one_firing_are_not_seen_by_the_next(crew):
    seen = []

    def leaves() -> None:
        seen.append(LEFT_BEHIND.get(None))
        LEFT_BEHIND.set("dirt")

    await crew.does(leaves, overlap="queue")
    await crew.hire(concurrency=1)
    await crew.fire("leaves", 5)
    await crew.concluded(5)
    assert seen == [None] * 5


async def test_a_function_that_returns_a_coroutine_says_what_it_should_be(crew):
    async def inner() -> None:
        """Nobody awaits it."""

    def outer() -> object:
        return inner()

    await crew.does(outer, retry={"max_attempts": 1})
    await crew.hire()
    await crew.fire("outer")
    await crew.until("(select count(*) from detent.dead) = 1")
    assert "outer returned something to await: write it as async def" in await crew.last("error", "outer")


async def test_a_payload_that_the_function_cannot_be_called_with_says_so(crew):
    def add(a: int) -> None:
        """Never called."""

    for payload in ({"a": "1"}, {"b": 1}):
        await crew.does(add, f"add {payload}", payload=payload, retry={"max_attempts": 1})
    await crew.hire()
    await crew.fire("add {'a': '1'}")
    await crew.fire("add {'b': 1}")
    await crew.until("(select count(*) from detent.dead) = 2")
    errors = [event.error for event in crew.told_of(AttemptEnded)]
    assert any('payload/a: input should be a valid integer, not "1"' in error for error in errors)
    assert any("missing a required argument: 'a'" in error for error in errors)


async def test_many_at_once(crew):
    def quick(ctx: SyncContext) -> int:
        return ctx.attempt

    await crew.does(quick, overlap="allow")
    await crew.hire(concurrency=30)
    async with asyncio.timeout(60):
        await crew.fire("quick", 200)
        await crew.concluded(200)
    assert {outcome for _, outcome, _ in await crew.ends("quick")} == {"succeeded"}
