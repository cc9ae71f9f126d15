"""What becomes of firings, as real workers write it down: success, failure, retries, time-outs, death, cancels."""

from __future__ import annotations

import asyncio
import contextvars
import json
from datetime import timedelta

import pytest

from detent import Context
from detent.observe.events import AttemptEnded, OverLong, TaskUnknown
from detent.worker import strangers, watch, worker

LEFT_BEHIND: contextvars.ContextVar[str] = contextvars.ContextVar("left_behind")


async def test_a_result_is_kept_and_said(crew):
    async def add(a: int, b: int) -> dict[str, int]:
        return {"sum": a + b}

    await crew.does(add, payload={"a": 1, "b": 2})
    await crew.hire()
    await crew.fire("add")
    await crew.concluded(1)
    assert await crew.ends("add") == [(1, "succeeded", True)]
    assert json.loads(await crew.last("excerpt", "add")) == {"sum": 3}
    (told,) = crew.told_of(AttemptEnded)
    assert (told.outcome, told.then, told.number, told.error) == ("succeeded", "conclude", 1, None)


# R-EXEC-1
async def test_every_attempt_has_the_same_key_and_a_token_that_grows(crew):
    seen: list[Context] = []

    async def flaky(context: Context) -> None:
        seen.append(context)
        if context.attempt < 3:
            raise OSError("not yet")

    await crew.does(flaky, retry={"delays": ["1ms"], "max_attempts": 3, "jitter": 0})
    await crew.hire()
    (at,) = await crew.fire("flaky")
    await crew.concluded(1)
    assert [context.attempt for context in seen] == [1, 2, 3]
    assert {context.idempotency_key for context in seen} == {seen[0].firing_id}
    assert seen[0].fencing_token < seen[1].fencing_token < seen[2].fencing_token
    assert {context.scheduled_for for context in seen} == {at}
    assert await crew.ends("flaky") == [
        (1, "failed", False),
        (2, "failed", False),
        (3, "succeeded", True),
    ]


# R-EXEC-4 R-EXEC-5
async def test_retries_keep_their_distance_and_the_last_one_is_death(crew):
    async def broken() -> None:
        raise ValueError("no luck\0\ud800 today")

    await crew.does(broken, retry={"delays": ["100ms", "300ms"], "jitter": 0})
    await crew.hire()
    await crew.fire("broken")
    await crew.until("(select count(*) from detent.dead) = 1")
    assert await crew.ends("broken") == [(1, "failed", False), (2, "failed", False), (3, "failed", False)]
    began = [
        row[0] for row in await crew.watcher.fetch("select started_at from detent.attempt order by number")
    ]
    ended = [
        row[0] for row in await crew.watcher.fetch("select finished_at from detent.attempt order by number")
    ]
    assert began[1] - ended[0] >= timedelta(milliseconds=100)
    assert began[2] - ended[1] >= timedelta(milliseconds=300)
    dead = await crew.watcher.fetchrow("select number, outcome, error from detent.dead")
    assert tuple(dead) == (3, "failed", "ValueError: no luck\\0\\ud800 today")
    assert 'raise ValueError("no luck' in await crew.last("excerpt", "broken"), "the end of the traceback"
    assert [event.then for event in crew.told_of(AttemptEnded)] == ["again", "again", "die"]
    assert not await crew.watcher.fetchval("select count(*) from detent.running"), "its seat is free"


# R-EXEC-7
async def test_a_time_out_ends_a_run_and_counts_as_an_attempt(crew):
    async def slow() -> None:
        await asyncio.Event().wait()

    await crew.does(slow, timeout="200ms", retry={"max_attempts": 2, "base": "1ms", "jitter": 0})
    await crew.hire()
    await crew.fire("slow")
    await crew.until("(select count(*) from detent.dead) = 1")
    assert await crew.ends("slow") == [(1, "timed_out", False), (2, "timed_out", False)]
    assert await crew.last("code", "slow") == "timeout"
    took = await crew.watcher.fetchval("select max(finished_at - started_at) from detent.attempt")
    assert timedelta(milliseconds=200) <= took < timedelta(seconds=2)


async def test_a_failure_after_the_time_out_is_still_the_time_outs(crew):
    async def clumsy() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise RuntimeError("could not clean up")

    await crew.does(clumsy, timeout="50ms", retry={"max_attempts": 1})
    await crew.hire()
    await crew.fire("clumsy")
    await crew.until("(select count(*) from detent.dead) = 1")
    assert await crew.ends("clumsy") == [(1, "timed_out", False)]
    assert "could not clean up" in await crew.last("error", "clumsy")


async def test_a_cancel_in_the_database_ends_a_run(crew):
    cleaned = []

    async def long() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append(True)

    await crew.does(long)
    await crew.hire()
    await crew.fire("long")
    await crew.until("(select count(*) from detent.running) = 1")
    await crew.watcher.execute("update detent.running set cancel = 'a person asked'")
    await crew.concluded(1)
    assert await crew.ends("long") == [(1, "cancelled", True)]
    assert await crew.last("code", "long") == "a person asked"
    assert cleaned


@pytest.mark.parametrize(
    "error",
    [SystemExit(3), KeyboardInterrupt("ctrl-c of a library"), GeneratorExit("odd"), BaseException("rude")],
    ids=lambda error: type(error).__name__,
)
async def test_whatever_a_task_raises_ends_the_attempt_and_not_the_worker(crew, error):
    async def rude() -> None:
        raise error

    async def polite() -> None:
        """Nothing."""

    await crew.does(rude, retry={"max_attempts": 1})
    await crew.does(polite)
    await crew.hire(concurrency=1)
    await crew.fire("rude")
    await crew.until("(select count(*) from detent.dead) = 1")
    await crew.fire("polite")
    await crew.concluded(1)
    assert await crew.ends("rude") == [(1, "failed", False)]
    assert (await crew.last("error", "rude")).startswith(type(error).__name__)


async def test_a_task_that_cancels_itself_has_failed(crew):
    async def gives_up() -> None:
        asyncio.current_task().cancel()
        await asyncio.Event().wait()

    async def next_one() -> None:
        """Nothing."""

    await crew.does(gives_up, retry={"max_attempts": 1})
    await crew.does(next_one)
    await crew.hire(concurrency=1)
    await crew.fire("gives_up")
    await crew.fire("next_one")
    await crew.concluded(1)
    await crew.until("(select count(*) from detent.dead) = 1")
    assert await crew.ends("gives_up") == [(1, "failed", False)]
    assert await crew.ends("next_one") == [(1, "succeeded", True)]


async def test_a_cancel_that_nobody_took_does_not_hit_the_next_firing(crew):
    """The task asks for its own cancellation and ends before it comes."""

    async def parting_shot() -> None:
        asyncio.current_task().cancel()

    async def next_one() -> None:
        await asyncio.sleep(0)

    await crew.does(parting_shot)
    await crew.does(next_one)
    await crew.hire(concurrency=1)
    await crew.fire("parting_shot")
    await crew.fire("next_one", 3)
    await crew.concluded(2)
    assert await crew.ends("parting_shot") == [(1, "succeeded", True)]
    assert {outcome for _, outcome, _ in await crew.ends("next_one")} <= {"succeeded", "skipped"}


async def test_what_a_task_leaves_in_its_context_is_not_seen_by_the_next(crew):
    seen = []

    async def leaves() -> None:
        seen.append(LEFT_BEHIND.get(None))
        LEFT_BEHIND.set("dirt")

    await crew.does(leaves, overlap="queue")
    await crew.hire(concurrency=1)
    await crew.fire("leaves", 5)
    await crew.concluded(5)
    assert seen == [None] * 5


async def test_a_task_that_swallows_its_cancellation_is_given_up(crew, monkeypatch):
    monkeypatch.setattr(watch, "_TELL_AGAIN_SECONDS", 0.1)
    monkeypatch.setattr(watch, "_GIVE_UP_SECONDS", 0.5)
    let_go, told = asyncio.Event(), 0

    async def deaf() -> None:
        nonlocal told
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                told += 1

    await crew.does(deaf, timeout="50ms", retry={"max_attempts": 1})
    await crew.hire(concurrency=1)
    await crew.fire("deaf")
    await crew.until("(select count(*) from detent.dead) = 1")
    assert await crew.ends("deaf") == [(1, "timed_out", False)]
    assert "it did not end when it was cancelled" in await crew.last("error", "deaf")
    assert told >= 2, "it was told more than once"
    await crew.fire("deaf")
    await crew.until("(select count(*) from detent.dead) = 2"), "its place was given to another"
    let_go.set()
    for _ in range(10):
        await asyncio.sleep(0)
    assert await crew.ends("deaf") == [(1, "timed_out", False)] * 2, "what it brings later changes nothing"


async def test_progress_is_seen_while_it_runs_and_tells_when_it_is_in_vain(crew):
    go_on, answers = asyncio.Event(), []

    async def long(context: Context) -> None:
        answers.append(await context.progress(0.5, "half way"))
        await go_on.wait()
        answers.append(await context.progress(0.9))

    await crew.does(long)
    await crew.hire()
    await crew.fire("long")
    await crew.until("(select count(*) from detent.progress where done = 0.5 and note = 'half way') = 1")
    await crew.watcher.execute("delete from detent.running")  # somebody took it away
    await crew.watcher.execute("delete from detent.firing")
    go_on.set()
    await crew.until("(select count(*) from detent.stale_result) = 1")
    assert answers == [True, False]


# R-TARGET-5
async def test_a_task_that_a_worker_does_not_have_is_left_to_those_that_do_and_told_of(crew, monkeypatch):
    monkeypatch.setattr(strangers, "_OVERDUE", timedelta(milliseconds=100))
    monkeypatch.setattr(worker, "_STRANGERS_SECONDS", 0.05)

    async def rare() -> None:
        """What one of them can do."""

    async def other() -> None:
        """What all of them can do."""

    await crew.does(other)
    await crew.does(rare, retry={"max_attempts": 1})
    ignorant = {"other": crew.tasks["other"]}
    await crew.hire(tasks=ignorant)
    await crew.fire("rare")
    await crew.fire("other")
    await crew.until("(select count(*) from detent.waiting where due_at < now() - interval '1 s') = 1")
    assert crew.told_of(TaskUnknown) == [TaskUnknown(task="rare", pool="default")]
    assert await crew.ends("other") == [(1, "succeeded", True)]
    await crew.hire()
    await crew.concluded(2)
    assert await crew.ends("rare") == [(1, "succeeded", True)], "nobody else has touched it"


async def test_a_start_deadline_holds_for_what_nobody_can_do(crew):
    async def unknown() -> None:
        """Nobody has it."""

    await crew.does(unknown, start_deadline="300ms")
    await crew.planner()
    await crew.hire(tasks={})
    await crew.fire("unknown")
    await crew.concluded(1)
    assert await crew.ends("unknown") == [(0, "missed", True)]


# R-EXEC-12
async def test_a_run_that_takes_twice_as_long_as_expected_is_told_of_once(crew):
    go_on = asyncio.Event()

    async def long() -> None:
        await go_on.wait()

    schedule_id = await crew.does(long, expected_duration="100ms")
    await crew.hire()
    (at,) = await crew.fire("long")
    await crew.until("(select count(*) from detent.running where now() - started_at > interval '1.2 s') = 1")
    (told,) = crew.told_of(OverLong)
    assert (told.schedule_id, told.scheduled_for, told.expected_seconds) == (schedule_id, at, 0.1)
    assert told.seconds > 0.2
    go_on.set()
    await crew.concluded(1)


async def test_arguments_that_a_task_changes_are_fresh_for_the_next_firing(crew):
    seen = []

    async def greedy(items: list[int]) -> None:
        seen.append(list(items))
        items.clear()

    await crew.does(greedy, payload={"items": [1, 2]}, overlap="queue")
    await crew.hire()
    await crew.fire("greedy", 2)
    await crew.concluded(2)
    assert seen == [[1, 2], [1, 2]]
