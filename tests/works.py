"""A whole Detent in this process: planner and workers on a test's database, in real time.

    works = await open_works(settings)
    worker = await works.worker({"stub": target})     # as many as you like; each is a node of its own
    await works.create(name="a", trigger={"every": "1s"}, target={"stub": 1})
    await works.trigger("a")
    await works.until("(select count(*) from detent.attempt where final) = 1")
    assert await works.attempts("a") == [...]

`judge()` asks the ledger for breaches of the law of conservation; the fixture does at the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import asyncpg
import pytest_asyncio

from detent.commands.schedules import Actor, Commands
from detent.node.node import Node
from detent.node.planner_node import add_planner
from detent.observe.events import Event, Events
from detent.settings import Settings
from detent.store import audit, pool, schedules
from detent.worker.worker import Worker
from tests.postgres import until

ME = Actor(by="ada")
LONG_AGO, FAR = datetime(1990, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


class Works:
    """Nodes, and a session that only looks."""

    def __init__(self, settings: Settings, watcher: asyncpg.Connection) -> None:
        self.settings = settings
        self.watcher = watcher
        self.told: list[Event] = []
        self.events = Events(self.told.append, successes=True)
        self.nodes: list[Node] = []
        self._workers: dict[Node, Worker] = {}

    async def planner(self, settings: Settings | None = None) -> Node:
        node = await self._node("planner", settings)
        add_planner(node)
        node.start()
        return node

    async def worker(
        self, targets: Mapping[str, Any], *, concurrency: int = 20, settings: Settings | None = None,
        pools: Sequence[str] = ("default",),
    ) -> Worker:  # fmt: skip
        node = await self._node("worker", settings)
        worker = self._workers[node] = Worker(node, targets, pools=list(pools), concurrency=concurrency)
        node.start()
        return worker

    async def stop(self, worker: Worker, grace: float = 5.0) -> None:
        """In peace."""
        await worker.drain(grace)
        await self._leave(self.node_of(worker))

    def node_of(self, worker: Worker) -> Node:
        return next(node for node, one in self._workers.items() if one is worker)

    async def close(self) -> None:
        for node in list(self.nodes):
            if node in self._workers:
                await self._workers[node].drain(0.1)
            await self._leave(node)

    async def create(self, **spec: Any) -> int:
        commands = Commands(connection=self.watcher, settings=self.settings)
        when = {} if "triggers" in spec else {"trigger": {"cron": "0 0 1 1 *"}}
        return await commands.create({**when, **spec}, ME)

    async def trigger(self, name: str, times: int = 1) -> list[datetime]:
        """So many firings, due now; their identities, in order."""
        commands = Commands(connection=self.watcher, settings=self.settings)
        return [await commands.trigger(name, ME) for _ in range(times)]

    async def until(self, condition: str, *arguments: Any, seconds: float = 20) -> Any:
        return await until(self.watcher, condition, *arguments, seconds=seconds)

    async def until_concluded(self, n: int = 1, seconds: float = 20) -> None:
        """So many firings have said their last word, or are dead."""
        await self.until(
            "(select count(*) from detent.attempt where final) + (select count(*) from detent.dead) >= $1",
            n, seconds=seconds,
        )  # fmt: skip

    async def until_told(self, kind: type[Event], seconds: float = 20) -> None:
        async with asyncio.timeout(seconds):
            while not self.told_of(kind):
                await self.watcher.execute("select pg_sleep(0.01)")

    async def attempts(self, name: str) -> list[asyncpg.Record]:
        return await self.watcher.fetch(
            "select a.* from detent.attempt a join detent.schedule s on s.id = a.schedule_id where s.name = $1"
            " order by a.scheduled_for, a.number",
            name,
        )

    def told_of(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.told if isinstance(event, kind)]

    async def judge(self) -> list[str]:
        return [str(breach) for breach in await audit.breaches(self.watcher, LONG_AGO, FAR)]

    async def _node(self, kind: str, settings: Settings | None = None) -> Node:
        node = Node(settings or self.settings, kind, self.events)
        await node.open()
        self.nodes.append(node)
        return node

    async def _leave(self, node: Node) -> None:
        await node.stop_loops()
        await node.close()
        self.nodes.remove(node)


Kind = TypeVar("Kind", bound=Works)


async def open_works(settings: Settings, kind: type[Kind] = Works) -> Kind:
    watcher = await pool.connect(settings)
    await schedules.set_min_interval(watcher, "default", timedelta(milliseconds=1))
    return kind(settings, watcher)


@pytest_asyncio.fixture
async def works(settings: Settings):
    opened = await open_works(settings)
    try:
        yield opened
        assert await opened.judge() == []
    finally:
        await opened.close()
        opened.watcher.terminate()
