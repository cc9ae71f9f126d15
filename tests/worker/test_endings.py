"""What a target tells of an end, and what becomes of the firing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from detent.domain.settle import Outcome
from detent.observe.events import FiringDeferred
from detent.targets.ending import Deferred, Ended, Excerpt
from detent.targets.task import make_task


@pytest.fixture
async def run(works):
    """A firing of a schedule whose target tells these endings, one an attempt; its attempts."""

    async def ran(*endings, **spec):
        left = list(endings)

        async def tell():
            return left.pop(0)

        worker = await works.worker({"tell": make_task(tell, "tell")})
        await works.create(name="s", target={"task": "tell"}, **spec)
        await works.trigger("s")
        await works.until_concluded()
        await works.stop(worker)
        return await works.attempts("s")

    return ran


# R-EXEC-4
async def test_an_end_that_is_not_retryable_is_the_last(run, works):
    (attempt,) = await run(
        Ended(code="404", error="not found", excerpt="<p>nothing here", retryable=False),
        retry={"max_attempts": 5, "base": "1s"},
    )
    assert (attempt["outcome"], attempt["final"], attempt["code"]) == ("failed", False, "404")
    assert (attempt["error"], attempt["excerpt"]) == ("not found", "<p>nothing here")
    assert await works.watcher.fetchval("select count(*) from detent.dead") == 1


# R-EXEC-4
async def test_a_target_that_asks_for_patience_is_given_it(run):
    first, second = await run(
        Ended(outcome=Outcome.TIMED_OUT, code="timeout", retry_after=timedelta(milliseconds=400)),
        Excerpt("200 fine"),
        retry={"delays": ["1ms"], "jitter": 0},
    )
    assert (first["outcome"], second["outcome"]) == ("timed_out", "succeeded")
    assert second["started_at"] - first["finished_at"] >= timedelta(milliseconds=400)
    assert second["excerpt"] == "200 fine"


# R-TARGET-3
async def test_a_deferred_firing_waits_again_without_an_attempt(run, works):
    (attempt,) = await run(
        Deferred(delay=timedelta(milliseconds=300), reason="full"), None, retry={"max_attempts": 1}
    )
    assert (attempt["outcome"], attempt["number"]) == ("succeeded", 2)
    (told,) = works.told_of(FiringDeferred)
    assert told.reason == "full"
    assert attempt["started_at"] >= told.until
