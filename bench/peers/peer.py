"""A peer, and how it is measured: the same loads as `detent bench`, and what comes out has the same names."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import asyncpg

from bench.peers.program import Program, Stamp, Workers
from detent import clock
from detent.bench.crew import BenchError
from detent.bench.figures import in_milliseconds, in_seconds
from detent.bench.fleet import settle_down
from detent.bench.place import fresh_database

_PATIENCE_SECONDS: Final = 60.0
_IDLE_SECONDS: Final = 2.0
"""Workers have had nothing to do for a while when the jobs come."""
_LOADED_PER_SECOND: Final = 1_500
"""At which all are surely loaded before their instant."""
_LEAST_NOTICE_SECONDS: Final = 5
_QUIET_SECONDS: Final = 5.0
"""After the last boundary, when nothing has happened for so long, nothing more will."""
_LOOK_SECONDS: Final = 0.002
_BOUNDARIES: Final = 2
_MINUTE: Final = 60

Figures = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    program: Program
    options: Mapping[str, object]
    left: str
    """A query: whether its store has anything that isn't done."""

    def drain(self, url: str, *, n: int, processes: int) -> Figures:
        """From the first start to the last durable record."""
        with self._at_work(url, processes=processes) as (database, workers):
            self.program.run("load", url=database, n=n, first=math.floor(clock.realtime()) - 1, step=0)
            last = asyncio.run(self._work_off(database, workers, n))
            stamps = _each(workers, n)
        seconds = last - min(began for _, began in stamps)
        return {"firings": n, "seconds": round(seconds, 3), "firings_per_s": round(n / seconds)}

    def lag(self, url: str, *, n: int, rate: int) -> Figures:
        """A steady load, each at its own instant."""
        lags = self._due(url, n, 1 / rate)
        return {"firings": n, "rate_per_s": rate, **in_milliseconds(lags), "early": _early(lags)}

    def burst(self, url: str, *, n: int) -> Figures:
        """All at one instant."""
        lags = self._due(url, n, 0.0)
        return {"firings": n, **in_seconds(lags), "early": _early(lags)}

    def cron(self, url: str, *, n: int, period: int = _MINUTE) -> Figures:
        """Every-minute schedules, over two boundaries. `period`: a minute but for tests."""
        with self._at_work(url, schedules=n) as (_, workers):
            workers.go()
            workers.wait_until("working")
            begin = (clock.realtime() + _LEAST_NOTICE_SECONDS) // period * period + period
            boundaries = {begin + k * period for k in range(_BOUNDARIES)}
            expected = n * _BOUNDARIES
            stamps = _until_quiet(workers, boundaries, expected)
        lags = [began - due for due, began in stamps]
        if not lags:
            raise BenchError("nothing fired")
        return {
            "schedules": n, "firings": len(lags), "dropped": expected - len(lags),
            **in_seconds(lags), "early": _early(lags),
        }  # fmt: skip

    @contextmanager
    def _at_work(self, url: str, *, processes: int = 1, schedules: int = 0) -> Iterator[tuple[str, Workers]]:
        """A database of its own, and workers that wait for `go`."""
        with fresh_database(url) as database:
            self.program.run("install", url=database)
            told = {"url": database, "options": self.options, "schedules": schedules}
            with self.program.workers(processes, told) as workers:
                yield database, workers

    async def _work_off(self, database: str, workers: Workers, n: int) -> float:
        """When the store said that nothing is left. It is asked only when every handler has begun, and what passes
        while it answers isn't counted."""
        connection = await asyncpg.connect(database)
        try:
            await settle_down(connection)
            workers.go()
            deadline = clock.monotonic() + _PATIENCE_SECONDS
            while clock.monotonic() < deadline:
                asked = clock.realtime()
                if workers.began() >= n and not await connection.fetchval(self.left):
                    return asked
                workers.refuse_the_dead()
                await clock.sleep(_LOOK_SECONDS)
        finally:
            await connection.close()
        raise BenchError(
            f"{workers.began()} of {n} began, and not all are done after {_PATIENCE_SECONDS:.0f} s"
        )

    def _due(self, url: str, n: int, step: float) -> list[float]:
        """The lags of jobs that were loaded ahead of their instants, into workers that had nothing to do."""
        with self._at_work(url) as (database, workers):
            workers.go()
            workers.wait_until("working")
            clock.pause(_IDLE_SECONDS)
            first = math.ceil(clock.realtime()) + _LEAST_NOTICE_SECONDS + n // _LOADED_PER_SECOND
            self.program.run("load", url=database, n=n, first=first, step=step)
            if clock.realtime() > first:
                raise BenchError("the jobs were not loaded before they were due")
            deadline = first + n * step + _PATIENCE_SECONDS
            while workers.began() < n and clock.realtime() < deadline:
                workers.refuse_the_dead()
                clock.pause(_LOOK_SECONDS)
            return [began - due for due, began in _each(workers, n)]


def _each(workers: Workers, n: int) -> list[Stamp]:
    stamps = workers.stamps()
    if len(stamps) != n:
        raise BenchError(f"{len(stamps):,} handlers began for {n:,} jobs {workers.last_words()}".strip())
    return stamps


def _until_quiet(workers: Workers, boundaries: set[float], expected: int) -> list[Stamp]:
    """What began for these boundaries: earlier ones passed while schedules were registered."""
    last, seen, since = max(boundaries), -1, clock.realtime()
    while True:
        workers.refuse_the_dead()
        stamps = [stamp for stamp in workers.stamps() if stamp[0] in boundaries]
        now = clock.realtime()
        if len(stamps) != seen:
            seen, since = len(stamps), now
        quiet = now > max(last, since) + _QUIET_SECONDS
        if quiet or len(stamps) >= expected or now > last + _PATIENCE_SECONDS:
            return stamps
        clock.pause(0.2)


def _early(lags: list[float]) -> int:
    return sum(late < 0 for late in lags)
