"""Tasks that steer their firings: by what they return, or by what they raise."""

from __future__ import annotations

import asyncio
import itertools
from datetime import timedelta

import pytest

from detent import Cancel, Context, DetentError, Retry, Snooze, SyncContext
from detent.domain import settle
from detent.observe.events import FiringDeferred


@pytest.fixture
def steer(crew):
    """A firing whose attempts end in these ways; those that are exceptions by name are raised."""

    async def steered(*ways, raised=False, **spec):
        left = iter(ways)

        async def task() -> object:
            way = next(left)
            if raised and isinstance(way, BaseException):
                raise way
            return way

        await crew.does(task, **spec)
        await crew.hire()
        await crew.fire("task")
        await crew.until_concluded()
        return await crew.attempts("task")

    return steered


# R-TARGET-5
@pytest.mark.parametrize("raised", [False, True])
async def test_a_retry_is_a_failed_attempt_and_comes_when_the_task_says(steer, raised):
    first, second = await steer(
        Retry("not there yet", after="300ms"), "done", raised=raised, retry={"max_attempts": 2, "base": "1h"}
    )
    assert (first["outcome"], first["code"], first["error"], first["final"]) == (
        "failed",
        "retry",
        "not there yet",
        False,
    )
    assert second["outcome"] == "succeeded"
    assert timedelta(milliseconds=300) <= second["started_at"] - first["finished_at"] < timedelta(seconds=5)


async def test_a_retry_without_a_time_comes_when_the_policy_says_and_the_last_one_is_death(crew, steer):
    attempts = await steer(Retry(), Retry(after="1s"), retry={"max_attempts": 2, "delays": ["1ms"]})
    assert [(a["outcome"], a["error"]) for a in attempts] == [("failed", "it asked for another attempt")] * 2
    assert await crew.watcher.fetchval("select count(*) from detent.dead") == 1


@pytest.mark.parametrize("raised", [False, True])
async def test_a_snooze_waits_in_its_seat_and_uses_no_attempt(crew, steer, raised):
    (attempt,) = await steer(Snooze("1s", "no file yet"), "done", raised=raised, retry={"max_attempts": 1})
    assert (attempt["number"], attempt["outcome"]) == (2, "succeeded")
    (told,) = crew.told_of(FiringDeferred)
    assert told.reason == "no file yet"
    assert attempt["started_at"] >= told.until


async def test_what_is_snoozed_keeps_its_seat(crew):
    naps = itertools.count()

    def sleepy(ctx: SyncContext) -> object:
        return Snooze(timedelta(seconds=1)) if next(naps) == 0 else ctx.attempt

    await crew.does(sleepy, overlap="queue")
    await crew.hire()
    first, second = await crew.fire("sleepy", 2)
    await crew.concluded(2)
    began = {
        row["scheduled_for"]: (row["started_at"], row["excerpt"]) for row in await crew.attempts("sleepy")
    }
    assert began[first] < began[second]
    assert (began[first][1], began[second][1]) == ("2", "1")


async def test_snoozes_have_an_end(steer, monkeypatch):
    monkeypatch.setattr(settle, "MAX_CLAIMS", 2)
    (attempt,) = await steer(Snooze("1s"), Snooze("1s", "still no file"), retry={"max_attempts": 1})
    assert (attempt["number"], attempt["outcome"], attempt["code"]) == (2, "failed", "deferred")
    assert attempt["error"] == "it can't be deferred once more, for it was claimed 2 times: still no file"


@pytest.mark.parametrize("raised", [False, True])
async def test_a_cancel_concludes_whatever_attempts_are_left(crew, steer, raised):
    (attempt,) = await steer(Cancel("the customer has left"), raised=raised, retry={"max_attempts": 9})
    assert (attempt["outcome"], attempt["code"], attempt["error"], attempt["final"]) == (
        "cancelled",
        "task",
        "the customer has left",
        True,
    )
    assert await crew.watcher.fetchval("select count(*) from detent.dead") == 0


@pytest.mark.parametrize("last_words", [Snooze("1h"), Retry(), ValueError("on the way out"), "a result"])
async def test_who_is_wished_to_end_does_not_come_back(crew, last_words):
    async def stubborn(ctx: Context) -> object:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if isinstance(last_words, ValueError):
                raise last_words from None
        assert ctx.cancelled
        return last_words

    await crew.does(stubborn)
    await crew.planner()
    await crew.hire()
    await crew.fire("stubborn")
    await crew.until("(select count(*) from detent.running) = 1")
    await crew.watcher.execute("update detent.running set cancel = 'overlap'")
    await crew.concluded(1)
    ends = await crew.ends("stubborn")
    assert [end[1] for end in ends if end[2]] == ["succeeded" if last_words == "a result" else "cancelled"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Snooze("100ms"), "delay is 100ms: allowed is 1s to 7d"),
        (lambda: Snooze(timedelta(days=8)), "delay is 8d: allowed is 1s to 7d"),
        (lambda: Snooze("soon"), '"soon" is no duration'),
        (lambda: Retry(after="8d"), "after is 8d: allowed is 0s to 7d"),
        (lambda: Retry(after=timedelta(seconds=-1)), "allowed is 0s to 7d"),
    ],
)
def test_delays_have_bounds(make, message):
    with pytest.raises(DetentError, match=message):
        make()


# R-EXEC-7
async def test_a_coroutine_knows_its_deadline_and_looks_between_two_awaits(crew):
    seen = []

    async def busy(ctx: Context) -> None:
        seen.append(ctx.remaining)
        while True:
            ctx.check()
            await asyncio.sleep(0)

    await crew.does(busy, timeout="200ms", retry={"max_attempts": 1})
    await crew.hire()
    await crew.fire("busy")
    await crew.until("(select count(*) from detent.dead) = 1")
    assert await crew.ends("busy") == [(1, "timed_out", False)]
    assert 0 < seen[0] <= 0.2


async def test_a_result_that_cannot_be_said_is_no_reason_to_fail(crew):
    class Rude:
        def __repr__(self) -> str:
            raise KeyError("no words")

    results = iter([Rude(), [Rude()], {Rude(): 1}, list(range(10**6)), "\0\ud800", ["x" * 5_000]])

    async def odd() -> object:
        return next(results)

    await crew.does(odd, overlap="queue")
    await crew.hire(concurrency=1)
    await crew.fire("odd", 6)
    await crew.concluded(6)
    kept = [row["excerpt"] for row in await crew.attempts("odd")]
    assert kept[0] == "a Rude that can't be written as JSON"
    assert kept[1].startswith("a list that can't")
    assert kept[2].startswith("a dict that can't")
    assert kept[3].startswith("[0, 1, 2, 3")
    assert kept[4] == '"\\u0000\\ud800"'
    assert all(len(text) <= 2_000 for text in kept)
