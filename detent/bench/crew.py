"""The crew of a benchmark: workers and planners in processes of their own, which tell the parent how far they are."""

from __future__ import annotations

import gc
import multiprocessing
import resource
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import uvloop

from detent import clock
from detent.domain.errors import DetentError
from detent.node.node import Node
from detent.node.planner_node import add_planner
from detent.observe.events import Events
from detent.settings import Settings
from detent.targets.context import Context
from detent.targets.task import make_task
from detent.worker.hand import Held
from detent.worker.worker import Worker

_PROCESS: Final = multiprocessing.get_context("spawn")
_PATIENCE_SECONDS: Final = 120.0
_LOOK_SECONDS: Final = 0.01


class BenchError(DetentError):
    """A benchmark that can't be trusted, or didn't come to its end."""

    code = "bench"


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    worker: bool = True
    planner: bool = False
    concurrency: int = 200


@dataclass(frozen=True, slots=True)
class Report:
    """What a member tells at its end."""

    stamps: list[tuple[float, float]]
    """Of the task `stamp`: the instant it was due, and when it began, by CLOCK_REALTIME."""
    rss_mb: float
    cpu_seconds: float


class Member:
    """One process: how many of its firings are on record, and when the last of them was."""

    def __init__(self, settings: Settings, role: Role) -> None:
        self.ready, self.stop = _PROCESS.Event(), _PROCESS.Event()
        self.done, self.last = _PROCESS.Value("q", 0), _PROCESS.Value("d", 0.0)
        self._report, told = _PROCESS.Pipe(duplex=False)
        shared = (self.ready, self.stop, self.done, self.last, told)
        self.process = _PROCESS.Process(target=_run, args=(settings, role, *shared), daemon=True)
        self.process.start()

    def finish(self) -> Report:
        """Stops it; what it has to tell."""
        self.stop.set()
        if not self._report.poll(_PATIENCE_SECONDS):
            raise BenchError("a process of the benchmark did not stop")
        report: Report = self._report.recv()
        self.process.join(_PATIENCE_SECONDS)
        return report


@contextmanager
def crew(settings: Settings, roles: Sequence[Role]) -> Iterator[list[Member]]:
    """Started and ready: the next thing they see, they do."""
    members = [Member(settings, role) for role in roles]
    try:
        for member in members:
            if not member.ready.wait(_PATIENCE_SECONDS):
                raise BenchError("a process of the benchmark did not start")
        yield members
    finally:
        for member in members:
            member.stop.set()
            member.process.join(_PATIENCE_SECONDS)
            member.process.kill()


def wait_until_done(members: Sequence[Member], n: int, seconds: float) -> None:
    """Until n firings are on record."""
    deadline = clock.monotonic() + seconds
    while (done := sum(member.done.value for member in members)) < n:
        if clock.monotonic() > deadline:
            raise BenchError(f"only {done} of {n} firings were done within {seconds:.0f} s")
        if not all(member.process.is_alive() for member in members):
            raise BenchError("a process of the benchmark died")
        clock.pause(_LOOK_SECONDS)


def _run(settings: Settings, role: Role, *shared: Any) -> None:
    uvloop.run(_serve(settings, role, *shared))


async def _serve(
    settings: Settings, role: Role, ready: Any, stop: Any, done: Any, last: Any, told: Any
) -> None:
    kind = "all" if role.planner and role.worker else "planner" if role.planner else "worker"
    node = Node(settings, kind, Events())
    await node.open()
    stamps = _Stamps()
    worker = None
    if role.worker:
        tasks = {"noop": make_task(noop, "noop"), "stamp": make_task(stamps.stamp, "stamp")}
        worker = Worker(node, tasks, pools=["default"], concurrency=role.concurrency)

        def concluded(held: Sequence[Held]) -> None:
            done.value += len(held)
            last.value = clock.realtime()

        worker.hand.on_concluded = concluded
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
    used = resource.getrusage(resource.RUSAGE_SELF)
    told.send(Report(stamps.pairs(), used.ru_maxrss / 1024, used.ru_utime + used.ru_stime))


async def noop() -> None:
    """What most benchmarks run."""


class _Stamps:
    def __init__(self) -> None:
        self._flat = array("d")

    async def stamp(self, context: Context) -> None:
        """Notes when it began."""
        self._flat.extend((context.scheduled_for.timestamp(), clock.realtime()))

    def pairs(self) -> list[tuple[float, float]]:
        return list(zip(self._flat[::2], self._flat[1::2], strict=True))
