"""Overlap policies with real workers, counted exactly: what runs, what waits, what gives way (reliability J2).

Each task runs until it is let go, so nothing here depends on how long anything takes.
"""

from __future__ import annotations

import asyncio
from datetime import datetime

import pytest

from detent import Context

QUEUED = "(select count(*) from detent.waiting where held = 'queued')"


class Stage:
    """A task that says when it begins and ends when it is let go."""

    def __init__(self) -> None:
        self.began: list[datetime] = []
        self.cancelled: list[datetime] = []
        self.most = self.now = 0
        self._doors: dict[datetime, asyncio.Event] = {}

    async def play(self, context: Context) -> None:
        self.began.append(context.scheduled_for)
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self._doors.setdefault(context.scheduled_for, asyncio.Event()).wait()
        except asyncio.CancelledError:
            self.cancelled.append(context.scheduled_for)
            raise
        finally:
            self.now -= 1

    def let_go(self, *firings: datetime) -> None:
        for one in firings:
            self._doors.setdefault(one, asyncio.Event()).set()


@pytest.fixture
async def stage(crew):
    made = Stage()

    async def plays(**spec):
        await crew.does(made.play, "play", **spec)
        await crew.hire(concurrency=20)

    made.plays = plays
    made.until_running = lambda n: crew.until(
        "(select count(*) from detent.running where node is not null) = $1", n
    )
    return made


async def outcomes(crew):
    return [(number, outcome) for number, outcome, _ in await crew.ends("play")]


# R-EXEC-6
async def test_skip(crew, stage):
    await stage.plays(overlap="skip")
    (first,) = await crew.fire("play")
    await stage.until_running(1)
    await crew.fire("play", 3)
    await crew.concluded(3)
    stage.let_go(first)
    await crew.concluded(4)
    (last,) = await crew.fire("play")
    stage.let_go(last)
    await crew.concluded(5)
    assert stage.began == [first, last]
    assert await outcomes(crew) == [
        (1, "succeeded"),
        (0, "skipped"),
        (0, "skipped"),
        (0, "skipped"),
        (1, "succeeded"),
    ]


# R-EXEC-6
async def test_queue_runs_all_of_them_in_order_one_at_a_time(crew, stage):
    await stage.plays(overlap="queue")
    first = await crew.fire("play")
    await stage.until_running(1)
    rest = await crew.fire("play", 4)
    await crew.until(f"{QUEUED} = 4")
    stage.let_go(*first, *rest)
    await crew.concluded(5)
    assert stage.began == [*first, *rest]
    assert stage.most == 1
    assert await outcomes(crew) == [(1, "succeeded")] * 5


# R-EXEC-6
async def test_queue_keeps_its_order_when_all_of_it_is_late_and_quick(crew, stage):
    """An outage left them behind; none is ever parked, for none runs long enough."""
    await crew.does(stage.play, "play", overlap="queue")
    await crew.does(stage.play, "other")
    firings = []
    for _ in range(10):
        firings += await crew.fire("play")
        stage.let_go(firings[-1], *(await crew.fire("other")))
    await crew.watcher.execute("update detent.waiting set due_at = due_at - interval '1 h'")
    await crew.hire()
    await crew.until("(select count(*) from detent.attempt a join detent.schedule s on s.id = a.schedule_id"
                     " where s.name = 'play') = 10")  # fmt: skip
    assert [one for one in stage.began if one in firings] == firings


# R-EXEC-6
async def test_collapse_keeps_the_newest(crew, stage):
    await stage.plays(overlap="collapse")
    (first,) = await crew.fire("play")
    await stage.until_running(1)
    waiting = await crew.fire("play", 4)
    await crew.concluded(3)
    await crew.until(f"{QUEUED} = 1")
    stage.let_go(first, *waiting)
    await crew.concluded(5)
    assert stage.began == [first, waiting[-1]]
    assert await outcomes(crew) == [(1, "succeeded"), *[(0, "collapsed")] * 3, (1, "succeeded")]


# R-EXEC-6
async def test_cancel_previous_ends_the_old_one_first(crew, stage):
    await stage.plays(overlap="cancel_previous")
    (first,) = await crew.fire("play")
    await stage.until_running(1)
    (second,) = await crew.fire("play")
    await crew.concluded(1)
    await stage.until_running(1)
    assert (stage.cancelled, stage.most) == ([first], 1)
    (third,) = await crew.fire("play")
    stage.let_go(third)
    await crew.concluded(3)
    assert stage.began == [first, second, third]
    assert await outcomes(crew) == [(1, "cancelled"), (1, "cancelled"), (1, "succeeded")]
    assert await crew.watcher.fetchval(
        "select array_agg(distinct code) from detent.attempt where code is not null"
    ) == ["overlap"]
    gaps = await crew.watcher.fetch(
        "select started_at, lag(finished_at) over (order by started_at) from detent.attempt"
    )
    assert all(ended is None or ended <= began for began, ended in gaps)


# R-EXEC-6
async def test_allow_runs_as_many_as_it_says_and_parks_the_rest(crew, stage):
    await stage.plays(overlap="allow", max_concurrent=2)
    firings = await crew.fire("play", 5)
    await stage.until_running(2)
    await crew.until(f"{QUEUED} = 3")
    assert stage.began == firings[:2]
    stage.let_go(firings[1])
    await crew.concluded(1)
    await stage.until_running(2)
    stage.let_go(*firings)
    await crew.concluded(5)
    assert stage.most == 2
    assert sorted(stage.began) == firings
    assert await outcomes(crew) == [(1, "succeeded")] * 5


# R-EXEC-6
async def test_allow_without_a_limit_waits_for_nobody(crew, stage):
    await stage.plays(overlap="allow")
    firings = await crew.fire("play", 12)
    await stage.until_running(12)
    stage.let_go(*firings)
    await crew.concluded(12)
    assert stage.most == 12


async def test_a_firing_that_rests_between_attempts_keeps_its_seat(crew, stage):
    failed = asyncio.Event()

    async def flaky(context: Context) -> None:
        if context.attempt == 1:
            failed.set()
            raise OSError("once more")

    await crew.does(flaky, overlap="skip", retry={"delays": ["1s"], "jitter": 0})
    await crew.hire()
    await crew.fire("flaky")
    await failed.wait()
    await crew.until("(select count(*) from detent.running where node is null) = 1")
    await crew.fire("flaky")
    await crew.concluded(2)
    assert [(n, o) for n, o, _ in await crew.ends("flaky")] == [
        (1, "failed"),
        (2, "succeeded"),
        (0, "skipped"),
    ]
