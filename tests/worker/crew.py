"""Real workers in the loop of a test, on a database of its own: nothing is replaced, time is the real one.

    crew.does(task, retry=…)        # a task and a schedule of its name, which fires when it is told to
    worker = await crew.worker()
    await crew.fire("task")
    await crew.until("(select count(*) from detent.attempt) = 1")

After each test the ledger is asked for breaches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from detent.commands.schedules import Actor, Commands
from detent.node.node import Node
from detent.node.planner_node import add_planner
from detent.observe.events import Event, Events
from detent.settings import Settings
from detent.store import audit, schedules
from detent.targets.task import Task, make_task
from detent.worker.worker import Worker
from tests.postgres import until

ME = Actor(by="ada")
LONG_AGO, FAR = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
NEVER = {"cron": "0 0 1 1 *"}
"""As good as: these fire when they are told to."""


class Crew:
    """`watcher` is a session that only looks; `told` are the events of all of them."""

    def __init__(self, settings: Settings, watcher: asyncpg.Connection) -> None:
        self.settings = settings
        self.watcher = watcher
        self.tasks: dict[str, Task] = {}
        self.told: list[Event] = []
        self._running: list[tuple[Node, Worker | None]] = []

    # People

    @property
    def commands(self) -> Commands:
        return Commands(connection=self.watcher, settings=self.settings)

    async def open(self) -> None:
        await schedules.set_min_interval(self.watcher, "default", timedelta(milliseconds=1))

    async def does(self, function: Callable[..., Any], name: str | None = None, **spec: Any) -> int:
        name = name or function.__name__
        self.tasks[name] = make_task(function, name)
        return await self.commands.create(
            {"name": name, "trigger": NEVER, "target": {"task": name}, **spec}, ME
        )

    async def fire(self, name: str, times: int = 1) -> list[datetime]:
        """So many firings, due now, in order."""
        return [await self.commands.trigger(name, ME) for _ in range(times)]

    # Nodes

    async def worker(
        self, *, concurrency: int = 10, pools: Iterable[str] = ("default",), planner: bool = False,
        tasks: dict[str, Task] | None = None, **changes: Any,
    ) -> Worker:  # fmt: skip
        node = await self._node("all" if planner else "worker", changes)
        worker = Worker(
            node, self.tasks if tasks is None else tasks, pools=list(pools), concurrency=concurrency
        )
        if planner:
            add_planner(node)
        self._running.append((node, worker))
        node.start()
        return worker

    async def planner(self, **changes: Any) -> Node:
        node = await self._node("planner", changes)
        add_planner(node)
        self._running.append((node, None))
        node.start()
        return node

    async def _node(self, kind: str, changes: dict[str, Any]) -> Node:
        settings = Settings(**{f: getattr(self.settings, f) for f in self.settings.__slots__} | changes)
        node = Node(settings, kind, Events(self.told.append, successes=True))
        await node.open()
        return node

    def node_of(self, worker: Worker) -> Node:
        return next(node for node, one in self._running if one is worker)

    async def stops(self, worker: Worker, grace: float = 0.0) -> None:
        """As on SIGTERM."""
        node = self.node_of(worker)
        self._running.remove((node, worker))
        await worker.drain(grace)
        await node.stop_loops()
        await node.close()

    async def close(self) -> None:
        for node, worker in list(self._running):
            if worker is not None:
                await self.stops(worker)
            else:
                await node.stop_loops()
                await node.close()

    # What became of it

    async def until(self, condition: str, *arguments: Any, seconds: float = 20) -> Any:
        return await until(self.watcher, condition, *arguments, seconds=seconds)

    async def concluded(self, n: int) -> None:
        """So many firings have had their last word."""
        await self.until("(select count(*) from detent.attempt where final) >= $1", n)

    async def attempts(self, name: str) -> list[tuple[int, str, bool]]:
        """Number, outcome, final: of a schedule, by firing."""
        rows = await self.watcher.fetch(
            "select a.number, a.outcome, a.final from detent.attempt a join detent.schedule s on s.id = a.schedule_id"
            " where s.name = $1 order by a.scheduled_for, a.number",
            name,
        )
        return [tuple(row) for row in rows]

    async def attempt(self, what: str, name: str) -> Any:
        """A column of the last attempt."""
        return await self.watcher.fetchval(
            f"select a.{what} from detent.attempt a join detent.schedule s on s.id = a.schedule_id"
            " where s.name = $1 order by a.scheduled_for desc, a.number desc limit 1",
            name,
        )

    def told_of(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.told if isinstance(event, kind)]

    async def breaches(self) -> list[audit.Breach]:
        return await audit.breaches(self.watcher, LONG_AGO, FAR)
