"""Runs a node until it is told to stop: what `detent dev`, `detent planner` and `detent worker` have in common."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from detent.cli.stop import Stop
from detent.node.node import Node
from detent.node.planner_node import add_planner, add_pruner
from detent.observe.events import Events, Started, Stopped, Stopping
from detent.settings import Settings
from detent.targets.task import Task
from detent.worker.worker import Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Duty:
    """What a worker is there for."""

    tasks: Mapping[str, Task]
    pools: Sequence[str]
    concurrency: int
    grace: float
    """Seconds that running firings are given to end, once it is told to stop."""


async def serve(
    settings: Settings, events: Events, stop: Stop, *, plans: bool, duty: Duty | None,
    prepare: Callable[[Node], None] | None = None,
) -> None:  # fmt: skip
    logging.getLogger("asyncpg").propagate = False  # what it says of lost connections, our loops say in words
    logging.getLogger("asyncpg").addHandler(logging.NullHandler())
    kind = "all" if plans and duty else "planner" if plans else "worker"
    node = Node(settings, kind, events)
    await node.open()
    async with AsyncExitStack() as leaving:
        leaving.push_async_callback(node.close)
        worker = None
        if duty is not None:
            worker = Worker(node, duty.tasks, pools=duty.pools, concurrency=duty.concurrency)
            events.emit(Started(what="worker", detail=_said(duty)))
        if plans:
            leaving.push_async_callback(add_pruner(node, add_planner(node)).close)
        if prepare is not None:
            prepare(node)
        _freeze()
        node.start()
        await _until_asked(node, stop)
        events.emit(Stopping(what=kind))
        if worker is not None and duty is not None:
            await worker.drain(duty.grace)
        await node.stop_loops()
    events.emit(Stopped(what=kind))


async def _until_asked(node: Node, stop: Stop) -> None:
    asked = asyncio.create_task(stop.asked.wait())
    broken = asyncio.create_task(node.until_broken())
    await asyncio.wait({asked, broken}, return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()
    if broken.done():
        broken.result()
    broken.cancel()


def _freeze() -> None:
    """What is here at the start stays: the collector need not walk over it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def _said(duty: Duty) -> str:
    tasks = f"{len(duty.tasks)} task{'' if len(duty.tasks) == 1 else 's'}"
    return f"pools {', '.join(duty.pools)}; {tasks}; {duty.concurrency} at once"
