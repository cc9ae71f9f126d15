"""The crew of a benchmark: workers and planners in processes of their own, which tell the parent how far they are."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.sharedctypes import Synchronized
from typing import Any, Final

import uvloop

from detent import clock
from detent.node.node import Node
from detent.node.planner_node import add_planner
from detent.observe.events import Event, Events, LoopFailed
from detent.settings import Settings
from detent.targets.task import make_task
from detent.worker.finaliser import Finaliser
from detent.worker.worker import Worker

_PROCESS: Final = multiprocessing.get_context("spawn")
_PATIENCE_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.002


@dataclass(frozen=True, slots=True)
class Member:
    """One process: what it has done so far, and when it last did something."""

    process: Any
    ready: Any
    stop: Any
    done: Synchronized[int]
    last: Synchronized[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    worker: bool = True
    planner: bool = False
    concurrency: int = 200


@contextmanager
def crew(settings: Settings, roles: Sequence[Role]) -> Iterator[list[Member]]:
    """Started and ready: the next thing they see, they do."""
    members = [_start(settings, role) for role in roles]
    try:
        for member in members:
            if not member.ready.wait(_PATIENCE_SECONDS):
                raise RuntimeError("a process of the benchmark did not start")
        yield members
    finally:
        for member in members:
            member.stop.set()
        for member in members:
            member.process.join(_PATIENCE_SECONDS)


def _start(settings: Settings, role: Role) -> Member:
    ready, stop = _PROCESS.Event(), _PROCESS.Event()
    done, last = _PROCESS.Value("q", 0), _PROCESS.Value("d", 0.0)
    process = _PROCESS.Process(target=_run, args=(settings, role, ready, stop, done, last), daemon=True)
    process.start()
    return Member(process, ready, stop, done, last)


def _run(settings: Settings, role: Role, *shared: Any) -> None:
    uvloop.run(_serve(settings, role, *shared))


async def _serve(settings: Settings, role: Role, ready: Any, stop: Any, done: Any, last: Any) -> None:
    node = Node(settings, "all" if role.planner and role.worker else "planner" if role.planner else "worker", Events())
    await node.open()
    worker = None
    if role.worker:
        worker = Worker(node, {"noop": make_task(noop, "noop")}, pools=["default"], concurrency=role.concurrency)
        _count(worker.finaliser, done, last)
    if role.planner:
        add_planner(node)
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    node.start()
    ready.set()
    while not stop.is_set():
        await clock.sleep(_LOOK_SECONDS)
    if worker is not None:
        await worker.drain(1.0)
    await node.stop_loops()
    await node.close()


def _count(finaliser: Finaliser, done: Any, last: Any) -> None:
    """What is on record, as this process knows it."""
    inner = finaliser._hand.let_go  # noqa: SLF001
    def let_go(held, *, concluded):
        inner(held, concluded=concluded)
        if concluded:
            done.value += len(held)
            last.value = clock.realtime()
    finaliser._hand.let_go = let_go


async def noop() -> None:
    """What the benchmarks run."""
