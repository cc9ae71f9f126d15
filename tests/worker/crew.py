"""Works whose schedules each run a task of their own, which fires when it is told to.

await crew.does(task, retry=…)        # a task, and a schedule of its name
worker = await crew.hire()
await crew.fire("task")
await crew.concluded(1)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import asyncpg

from detent.settings import Settings
from detent.targets.task import Task, make_task
from detent.worker.worker import Worker
from tests.works import Works


class Crew(Works):
    """Every worker has every task, unless it is told otherwise."""

    def __init__(self, settings: Settings, watcher: asyncpg.Connection) -> None:
        super().__init__(settings, watcher)
        self.tasks: dict[str, Task] = {}

    async def does(
        self, function: Callable[..., Any], name: str | None = None, *, executor: str | None = None,
        memory: str | None = None, **spec: Any,
    ) -> int:  # fmt: skip
        name = name or function.__name__
        self.tasks[name] = make_task(function, name, executor=executor, memory=memory)
        return await self.create(name=name, target={"task": name}, **spec)

    async def hire(
        self, *, concurrency: int = 10, pools: Sequence[str] = ("default",),
        tasks: dict[str, Task] | None = None, **changes: Any,
    ) -> Worker:  # fmt: skip
        settings = replace(self.settings, **changes)
        known = self.tasks if tasks is None else tasks
        return await self.worker(known, concurrency=concurrency, settings=settings, pools=pools)

    async def fire(self, name: str, times: int = 1) -> list[datetime]:
        return await self.trigger(name, times)

    async def concluded(self, n: int) -> None:
        """So many firings have had their last word."""
        await self.until("(select count(*) from detent.attempt where final) >= $1", n)

    async def ends(self, name: str) -> list[tuple[int, str, bool]]:
        """Number, outcome, final: of each attempt of a schedule, by firing."""
        return [(row["number"], row["outcome"], row["final"]) for row in await self.attempts(name)]

    async def last(self, what: str, name: str) -> Any:
        """A column of the last attempt."""
        return (await self.attempts(name))[-1][what]
