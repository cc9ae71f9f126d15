"""What firings do in the simulation, and who watches them do it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from random import Random

from detent import clock
from detent.targets.context import Context
from detent.targets.task import Task, make_task
from tests.sim.process import Process


@dataclass(slots=True, eq=False)
class Run:
    """One execution, as it really was."""

    process: Process
    schedule_id: int
    key_at: datetime
    number: int
    volley: int
    began: datetime
    """By the database's clock, the latest that it has shown."""
    ended: bool = False
    succeeded: bool = False

    @property
    def lives(self) -> bool:
        return not self.ended and not self.process.dead


class Handlers:
    """The tasks of the app, and all their runs."""

    def __init__(self, random: Random, now: Callable[[], datetime]) -> None:
        self._random = random
        self._now = now
        self.runs: list[Run] = []
        self.living: dict[Run, None] = {}
        self.fresh: list[Run] = []
        """Nobody has looked at them yet."""
        self.kind = False
        """They all come to an end soon, and a good one."""

    def tasks(self) -> dict[str, Task]:
        async def quick(context: Context) -> str:
            return await self._run(context, "quick")

        async def slow(context: Context) -> str:
            return await self._run(context, "slow")

        async def fails(context: Context) -> str:
            return await self._run(context, "fails")

        async def hangs(context: Context) -> str:
            return await self._run(context, "hangs")

        async def mixed(context: Context) -> str:
            return await self._run(context, self._random.choice(["quick", "slow", "fails", "hangs", "deaf"]))

        return {f.__name__: make_task(f, f.__name__) for f in (quick, slow, fails, hangs, mixed)}

    async def _run(self, context: Context, manner: str) -> str:
        process = asyncio.get_running_loop()
        assert isinstance(process, Process)
        run = Run(
            process, context.schedule_id, context.key_at, context.attempt, context.fencing_token, self._now()
        )
        self.runs.append(run)
        self.fresh.append(run)
        self.living[run] = None
        try:
            await self._behave(context, "quick" if self.kind else manner)
            run.succeeded = not process.dead
            return manner
        finally:
            run.ended = True
            self.living.pop(run, None)

    async def _behave(self, context: Context, manner: str) -> None:
        draw = self._random.random
        match manner:
            case "quick":
                if draw() < 0.3:
                    await clock.sleep(draw() * 0.1)
            case "slow":
                await clock.sleep(draw() * 4)
                if draw() < 0.3:
                    await context.progress(0.5, "half way")
                    await clock.sleep(draw() * 2)
            case "fails":
                await clock.sleep(draw())
                if draw() < 0.7:
                    raise RuntimeError("it failed")
            case "hangs":
                await asyncio.Event().wait()
            case "deaf":
                try:
                    await clock.sleep(5)
                except asyncio.CancelledError:
                    await clock.sleep(2 * draw())
                    if draw() < 0.3:
                        raise
