"""The crew of the simulation: Detent's own nodes, whole, each in a process of its own.

What they do to the outside is replaced, and nothing else: connections, the monotonic clock, randomness, and the thread
of the heartbeat, which is a task here.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from unittest.mock import patch

import asyncpg

from detent import clock
from detent.node.lease import Lease
from detent.node.node import Node
from detent.node.planner_node import add_planner
from detent.node.shards import Shards
from detent.observe.events import Event, Events, LoopFailed
from detent.runner import Loop, Tick
from detent.settings import Settings
from detent.store.pool import LOST, StoreUnreachable
from detent.targets.task import Task
from detent.worker.hand import Held
from detent.worker.worker import Worker
from tests.sim.director import Director
from tests.sim.process import Process
from tests.sim.wire import Connection, Pool
from tests.sim.world import POOLS

_RETRY_SECONDS = 0.2
_DRAIN_SECONDS = 1.0


class Heartbeat:
    """As detent/node/heartbeat.py, in the loop of its process."""

    def __init__(self, settings: Settings, lease: Lease, alive: Callable[[], float]) -> None:
        self._lease = lease
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        connection = await connect()
        try:
            await self._lease.register(connection)
        finally:
            await connection.close()
        self._task = asyncio.create_task(self._beat())

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _beat(self) -> None:
        connection = None
        pause = self._lease.renew_every
        while True:
            await clock.sleep(pause)
            pause = self._lease.renew_every
            try:
                if connection is None or connection.is_closed():
                    connection = await connect()
                await self._lease.renew(connection)
            except (*LOST, StoreUnreachable, asyncpg.PostgresError):
                if connection is not None:
                    connection.terminate()
                connection = None
                pause = _RETRY_SECONDS


async def connect(_: Settings | None = None) -> Connection:
    process = asyncio.get_running_loop()
    assert isinstance(process, Process)
    return process.connect()


async def open_pool(_: Settings, size: int) -> Pool:
    process = asyncio.get_running_loop()
    assert isinstance(process, Process)
    return Pool(process, size)


async def _nothing(_: object) -> None:
    """The schema is there."""


@contextmanager
def outside_replaced(seed: int) -> Iterator[None]:
    """Detent's modules get the simulation's outside."""
    drawn = random.Random(f"detent {seed}")
    replaced = {
        "detent.clock.monotonic": lambda: asyncio.get_running_loop().time(),
        "detent.node.node.connect": connect,
        "detent.node.node.open_pool": open_pool,
        "detent.node.node.Heartbeat": Heartbeat,
        "detent.node.node.migrate.refuse_old_schema": _nothing,
        "detent.node.lease.secrets": SimpleNamespace(randbits=drawn.getrandbits),
        "detent.node.shards.random": drawn,
        "detent.runner.random": drawn,
    }
    with ExitStack() as stack:
        for name, value in replaced.items():
            stack.enter_context(patch(name, value))
        # Sets of firings in hand have the same order in every run.
        stack.enter_context(
            patch.object(Held, "__hash__", lambda self: hash((self.claimed[0], self.claimed[4])))
        )
        yield


_HOUSEKEEPING = {"watch", "overlaps", "reap", "shards", "deadlines", "pauses", "progress", "strangers"}


class PacedNode(Node):
    """Its housekeeping takes its time: most of its ticks find nothing to do, and cost as much as those that do."""

    def __init__(self, settings: Settings, kind: str, events: Events, pace: float) -> None:
        super().__init__(settings, kind, events)
        self._pace = pace

    def loop(self, name: str, tick: Tick, *, every: float) -> Loop:
        return super().loop(name, tick, every=every * (self._pace if name in _HOUSEKEEPING else 1.0))


@dataclass(kw_only=True)
class Post:
    """A place in the crew, whoever fills it: a process that dies is followed by another."""

    name: str
    kind: str
    pools: tuple[str, ...] = ()
    concurrency: int = 0
    process: Process | None = None
    node: Node | None = None
    worker: Worker | None = None
    shards: Shards | None = None
    restarts: bool = True
    born: int = field(default=0)


class Crew:
    """Starts nodes, and starts them again when they have died."""

    def __init__(
        self, director: Director, settings: Settings, pace: float, tasks: Mapping[str, Task],
        report: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.posts: list[Post] = []
        self._director = director
        self._settings = settings
        self._pace = pace
        self._tasks = tasks
        self._report = report

    def add(self, post: Post) -> None:
        self.posts.append(post)
        self.start(post)

    def spare(self) -> list[Post]:
        """Those that the others can do without."""
        return [post for post in self.posts if _whole([other for other in self.posts if other is not post])]

    def start(self, post: Post) -> None:
        if post.process is not None or not post.restarts:
            return
        post.born += 1
        process = self._director.process(f"{post.name}{post.born}")
        post.process = process
        process.begin(self._run(post))
        self._director.go(process)

    def kill(self, post: Post, back_after: float | None) -> None:
        process, post.process = post.process, None
        if process is None:
            return
        self._director.note(f"{process.name} dies")
        self._director.kill(process)
        post.node = post.worker = post.shards = None
        if back_after is not None:
            self._director.at(self._director.elapsed + back_after, lambda: self.start(post))

    def terminate(self, post: Post, back_after: float) -> None:
        """SIGTERM: it hands over and leaves, and another follows."""
        if post.process is None or post.node is None:
            return
        process = post.process
        self._director.note(f"{process.name} is told to stop")
        leaving = process.begin(self._leave(post))
        leaving.add_done_callback(
            lambda _: self._director.at(0, lambda: self._gone(post, process, back_after))
        )
        self._director.go(process)

    def _gone(self, post: Post, process: Process, back_after: float) -> None:
        if post.process is process:
            self.kill(post, back_after)

    async def _run(self, post: Post) -> None:
        node = PacedNode(self._settings, post.kind, Events(self._hear), self._pace)
        while True:
            try:
                await node.open()
                break
            except (*LOST, StoreUnreachable):
                await clock.sleep(_RETRY_SECONDS)
        if post.kind in ("worker", "all"):
            post.worker = Worker(node, self._tasks, pools=post.pools, concurrency=post.concurrency)
        if post.kind in ("planner", "all"):
            post.shards = add_planner(node)
        node.start()
        post.node = node

    async def _leave(self, post: Post) -> None:
        assert post.node is not None
        if post.shards is not None:
            post.shards.stopped = True
        if post.worker is not None:
            await post.worker.drain(_DRAIN_SECONDS)
        await post.node.stop_loops()
        await post.node.close()

    def _hear(self, event: Event) -> None:
        if isinstance(event, LoopFailed) and not _is_ordinary(event.error):
            self._report(f"the loop {event.loop} failed: {event.error}")


def _whole(posts: list[Post]) -> bool:
    served = {pool for post in posts for pool in post.pools}
    return served == set(POOLS) and any(post.kind in ("planner", "all") for post in posts)


def _is_ordinary(error: str) -> bool:
    name = error.partition(":")[0]
    kind = getattr(asyncpg, name, None) or getattr(__import__("builtins"), name, None)
    return isinstance(kind, type) and issubclass(kind, LOST)
