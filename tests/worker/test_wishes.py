"""A person's wish to end a run, as a real worker grants it."""

from __future__ import annotations

import asyncio

import pytest

from detent.commands.firings import Firings
from detent.commands.schedules import Actor
from detent.domain.identity import firing_id

ADA = Actor(by="ada", reason="wrong list")


async def asks(crew, schedule_id, when):
    firings = Firings(connection=crew.watcher)
    return await firings.cancel(firing_id(schedule_id, when), ADA)


# R-EXEC-7, R-API-1
@pytest.mark.parametrize("reason", ["wrong list", "timeout", "stopping", "overlap", None])
async def test_a_run_that_a_person_cancels_ends_as_cancelled_whatever_reason_is_given(crew, reason):
    """The reason is a person's words, and none of our codes."""

    async def long() -> None:
        await asyncio.Event().wait()

    schedule_id = await crew.does(long, retry={"max_attempts": 9})
    await crew.hire()
    (when,) = await crew.fire("long")
    await crew.until("(select count(*) from detent.running) = 1")
    actor = Actor(by="stopping", reason=reason)
    assert not await Firings(connection=crew.watcher).cancel(firing_id(schedule_id, when), actor)
    await crew.concluded(1)
    (attempt,) = await crew.attempts("long")
    assert (attempt["outcome"], attempt["code"]) == ("cancelled", "asked")
    assert attempt["error"] == ("stopping" if reason is None else f"stopping: {reason}")


# R-EXEC-7
async def test_a_run_that_fails_while_it_is_being_cancelled_is_not_tried_again(crew):
    async def clumsy() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ValueError("could not clean up") from None

    schedule_id = await crew.does(clumsy, retry={"max_attempts": 9, "delays": ["1h"]})
    await crew.hire()
    await crew.planner()
    (when,) = await crew.fire("clumsy")
    await crew.until("(select count(*) from detent.running) = 1")
    await asks(crew, schedule_id, when)
    await crew.concluded(1)
    assert await crew.ends("clumsy") == [(0, "cancelled", True), (1, "failed", False)]
    last = (await crew.attempts("clumsy"))[0]
    assert (last["code"], last["error"]) == ("cancelled", "asked: ada: wrong list")
