"""What `detent planner` and `detent worker` do."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

import uvloop

from detent.app import Detent
from detent.cli.apps import load_app, tasks_of
from detent.cli.declaration import declare
from detent.cli.processes import Processes
from detent.cli.serve import Duty, serve
from detent.cli.stop import Stop
from detent.observe.events import Events, PoolNotServed
from detent.settings import from_environment


def run_planner(events: Events, *, database_url: str | None) -> None:
    settings = from_environment(os.environ, database_url=database_url)

    async def run() -> None:
        await serve(settings, events, Stop(), plans=True, duty=None)

    uvloop.run(run())


def run_worker(
    events: Events, references: Sequence[str], *, pools: Sequence[str], concurrency: int, grace: float,
    declares: bool, database_url: str | None,
) -> None:  # fmt: skip
    settings = from_environment(os.environ, database_url=database_url)
    apps = [load_app(reference) for reference in references]
    duty = Duty(tasks=tasks_of(apps), pools=pools, concurrency=concurrency, grace=grace)

    async def run() -> None:
        stop = Stop()
        await declare(settings, events, apps if declares else ())
        _tell_of_pools(events, apps, pools)
        await serve(settings, events, stop, plans=False, duty=duty)

    uvloop.run(run())


def run_processes(events: Events, arguments: Sequence[str], n: int) -> int:
    """The code to exit with."""

    async def run() -> int:
        return await Processes(arguments, n, events).run()

    return uvloop.run(run())


def _tell_of_pools(events: Events, apps: Sequence[Detent], pools: Sequence[str]) -> None:
    """Firings that nobody fetches are the usual surprise of who names a pool for the first time."""
    named = Counter(str(spec.get("pool", "default")) for app in apps for spec in app.schedules.values())
    for pool, n in named.items():
        if pool not in pools:
            events.emit(PoolNotServed(pool=pool, schedules=n))
