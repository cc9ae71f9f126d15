"""What a forgotten transaction costs: planning and draining in turns at full rate, with the horizon held and readers
that scan, against the same without them.

A fleet is planned for one period after the other, and each time drained. Nobody waits for the periods: the planner
looks further ahead round by round, and the worker lives a week ahead of the database, so what was planned is due. Both
are otherwise as ever: floors, fences, epochs, seats, history.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Final

import uvloop

from detent import clock
from detent.bench.crew import BenchError, noop
from detent.bench.fleet import NOOP, bench_statement, settle_down
from detent.bench.place import open_days, place
from detent.bench.sabotage import sabotage
from detent.clock import DatabaseClock
from detent.node.node import Node
from detent.node.planner import Planner
from detent.node.shards import Shards
from detent.observe.events import Events
from detent.settings import Settings
from detent.store import planning
from detent.store.pool import Connection, connect_patiently
from detent.targets.task import make_task
from detent.worker.worker import Worker

_PERIOD: Final = timedelta(minutes=1)
_AHEAD: Final = timedelta(days=7)
_STEP: Final = timedelta(milliseconds=1)
_EDGES: Final = 6
"""The first and the last sixth of a run are compared: 30 s of three minutes."""
_PATIENCE_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Round:
    ended: float
    """Seconds after the first began."""
    plan_seconds: float
    drain_seconds: float


@dataclass(frozen=True, slots=True)
class Run:
    firings: int
    rounds: list[Round]
    dead_tuples: dict[str, int]
    wal_bytes: int
    commits: int

    def trend(self, seconds: int) -> tuple[float, float]:
        """Draining, planning: the rate in the last sixth over that in the first."""
        edge = seconds / _EDGES
        first = [one for one in self.rounds if one.ended <= edge] or self.rounds[:1]
        last = [one for one in self.rounds if one.ended > seconds - edge] or self.rounds[-1:]
        return (
            statistics.mean(one.drain_seconds for one in first) / statistics.mean(one.drain_seconds for one in last),
            statistics.mean(one.plan_seconds for one in first) / statistics.mean(one.plan_seconds for one in last),
        )  # fmt: skip


def bloat(url: str | None, *, n: int = 20_000, seconds: int = 180, runs: int = 3) -> dict[str, object]:
    """`n`: schedules, so firings of a round. Pairs of runs change order, so that a trend of the machine cancels out."""
    drains: list[float] = []
    plans: list[float] = []
    both: dict[bool, Run] = {}
    for pair in range(runs):
        both = {
            held: _run(url, n, seconds, held=held) for held in ((True, False) if pair % 2 else (False, True))
        }
        (held_drain, held_plan), (drain, plan) = both[True].trend(seconds), both[False].trend(seconds)
        drains.append(held_drain / drain)
        plans.append(held_plan / plan)
    held, unheld = both[True], both[False]
    return {
        "bench": "bloat", "schedules": n, "seconds": seconds, "runs": runs,
        "end_over_start": round(statistics.median(drains), 3),
        "plan_end_over_start": round(statistics.median(plans), 3),
        "each": [round(ratio, 3) for ratio in drains], "plan_each": [round(ratio, 3) for ratio in plans],
        "firings": unheld.firings, "drained_per_s": _rate(unheld, "drain_seconds"),
        "planned_per_s": _rate(unheld, "plan_seconds"),
        "held_firings": held.firings, "held_drained_per_s": _rate(held, "drain_seconds"),
        "held_planned_per_s": _rate(held, "plan_seconds"),
        "dead_tuples": held.dead_tuples, "dead_tuples_unheld": unheld.dead_tuples,
        "wal_bytes_per_firing": round(unheld.wal_bytes / unheld.firings),
        "commits_per_firing": round(unheld.commits / unheld.firings, 5),
    }  # fmt: skip


def _rate(run: Run, phase: str) -> int:
    seconds: float = sum(getattr(one, phase) for one in run.rounds)
    return round(run.firings / seconds)


def _run(url: str | None, n: int, seconds: int, *, held: bool) -> Run:
    with place(url) as settings:
        begin = uvloop.run(_load(settings, n))
        with sabotage(settings) if held else nullcontext():
            return uvloop.run(_turns(settings, n, begin, seconds))


async def _load(settings: Settings, n: int) -> datetime:
    connection = await connect_patiently(settings)
    try:
        await open_days(connection)
        begin = (await planning.now(connection)).replace(microsecond=0) + _PERIOD
        period = f"{_PERIOD.total_seconds():.0f}s"
        await connection.execute(bench_statement("load_rounds"), n, begin, _STEP, period, NOOP)
        await settle_down(connection)
    finally:
        await connection.close()
    return begin


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rising(Settings):
    """Settings of a planner that looks as far ahead as it is told."""

    until: list[datetime] = field(default_factory=list)

    @property
    def look_ahead_delta(self) -> timedelta:
        return self.until[-1] - clock.now()


class _WeekAhead(DatabaseClock):
    """The clock of a worker to whom everything planned is due."""

    def observe(self, read_at: datetime, asked_at: float) -> None:
        super().observe(read_at + _AHEAD, asked_at)


async def _turns(settings: Settings, n: int, begin: datetime, seconds: int) -> Run:
    given = {field.name: getattr(settings, field.name) for field in fields(Settings)}
    rising = _Rising(**{**given, "claim_ahead": _AHEAD.total_seconds()})
    node = Node(rising, "all", Events())
    await node.open()
    shards = Shards(node.pool, node.lease, node.events)
    await shards.tick()
    planner = Planner(node.pool, node.lease, shards, rising, node.events)
    worker = Worker(
        node, {"noop": make_task(noop, "noop")}, pools=["default"], concurrency=200, time=_WeekAhead()
    )
    worker.claimer.stopped = True
    node.start()
    connection = await connect_patiently(settings)
    try:
        before = await _written(connection)
        rounds: list[Round] = []
        first = clock.monotonic()
        while (now := clock.monotonic()) < first + seconds:
            rising.until.append(begin + (len(rounds) + 0.5) * _PERIOD)
            while await planner.tick():
                pass
            planned = clock.monotonic()
            await _drain(worker, n)
            ended = clock.monotonic()
            rounds.append(Round(ended - first, planned - now, ended - planned))
        await clock.sleep(1.5)  # until sessions have told the server's statistics what they did
        after = await _written(connection)
        dead = {row[0]: row[1] for row in await connection.fetch(bench_statement("dead_tuples"))}
        await _all_on_record(connection, n * len(rounds))
    finally:
        await connection.close()
        await node.stop_loops()
        await node.close()
    used = {name: after[name] - before[name] for name in before}
    return Run(n * len(rounds), rounds, dead, used["wal"], used["commits"])


async def _drain(worker: Worker, n: int) -> None:
    """Until n firings more are on record."""
    left = n
    deadline = clock.monotonic() + _PATIENCE_SECONDS

    def concluded(held: object) -> None:
        nonlocal left
        left -= len(held)  # type: ignore[arg-type]

    worker.hand.on_concluded = concluded
    worker.claimer.stopped = False
    worker.finaliser.on_room()  # wakes the claimer
    while left > 0:
        if clock.monotonic() > deadline:
            raise BenchError(f"{left} of {n} firings were not done within {_PATIENCE_SECONDS:.0f} s")
        await clock.sleep(0.001)
    worker.claimer.stopped = True


async def _written(connection: Connection) -> Mapping[str, int]:
    return dict(await connection.fetchrow(bench_statement("written")))


async def _all_on_record(connection: Connection, n: int) -> None:
    found = await connection.fetchval("select count(*) from detent.attempt where final")
    if found != n:
        raise BenchError(f"{found} attempts are on record for {n} firings")
