"""How long a firing may take: as its schedule says, else as its pool does."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta

import pytest

from detent import clock
from detent.domain.settle import Outcome
from detent.node.lease import Lease
from detent.observe.events import Events
from detent.store import claiming
from detent.targets.registry import Registry
from detent.targets.task import TaskTarget, make_task
from detent.worker.executor import Executor
from detent.worker.hand import Held


class Ends:
    """A sink that keeps what it is told."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.told = asyncio.Event()

    def succeeded(self, held, finished, result):
        self._keep(Outcome.SUCCEEDED)

    def ended(self, held, finished, outcome, error):
        self._keep(outcome)

    def voided(self, held):
        raise AssertionError

    def context(self, held):
        raise AssertionError

    def _keep(self, outcome):
        self.outcomes.append(outcome)
        self.told.set()


async def for_ever() -> None:
    await asyncio.Event().wait()


async def outcome_of(settings, *, schedule: str | None, pool: float | None) -> Outcome:
    lease = Lease(settings, "worker", Events())
    lease.deadline = clock.monotonic() + 3600
    work = {"target": {"task": "for_ever"}} | ({"timeout": schedule} if schedule else {})
    call = Registry({"task": TaskTarget({"for_ever": make_task(for_ever, "for_ever")}, places=1)}).call(
        json.dumps(work)
    )
    sink = Ends()
    executor = Executor(1, sink, lease)
    held = Held((1, None, 0, 1, 1, None, 1, 14, "", None, None, None), call, lease.id, 0.0, 0.0, pool)
    executor.submit([held])
    try:
        async with asyncio.timeout(0.5):
            await sink.told.wait()
    except TimeoutError:
        executor.cancel(held, "asked")
        await sink.told.wait()
    return sink.outcomes[0]


# R-EXEC-7, R-EXEC-8
@pytest.mark.parametrize(
    ("schedule", "pool", "outcome"),
    [
        ("10ms", None, Outcome.TIMED_OUT),
        (None, 0.01, Outcome.TIMED_OUT),
        ("10ms", 60.0, Outcome.TIMED_OUT),
        ("60s", 0.01, Outcome.CANCELLED),
        (None, None, Outcome.CANCELLED),
    ],
)
async def test_a_schedules_timeout_holds_else_that_of_its_pool(settings, schedule, pool, outcome):
    assert await outcome_of(settings, schedule=schedule, pool=pool) is outcome


async def test_a_pool_has_limits_if_somebody_gave_it_some(connection):
    assert await claiming.pool_limits(connection, "new") == claiming.NO_LIMITS
    await connection.execute("update detent.pool set cap = 3, timeout = '90 s' where name = 'new'")
    assert await claiming.pool_limits(connection, "new") == claiming.Limits(3, timedelta(seconds=90))
