"""Real processes in real time: a PostgreSQL of its own, planners and workers on it, a load, and two witnesses.

The load is schedules that fire once a second, evenly spread, between two instants; so how many slots there are is known
without asking Detent. What began is told by the tasks themselves, in files. When all is over, the ledger is compared with
both: see `judge`.

How noisy the machine is, is measured in the same run by a thread that does nothing but wait: bounds are what is promised,
and what this thread was late itself.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import asyncpg

from detent import clock
from detent.commands.bulk import create_many
from detent.commands.schedules import Actor
from detent.domain.instant import format_instant
from detent.settings import Settings
from detent.store import audit, schedules
from detent.store.embedded import EmbeddedPostgres
from tests.cli.run import ROOT, Running
from tests.e2e.load import WITNESS
from tests.postgres import until

TTL = 2.0
LOOK_AHEAD = 2.0
SECOND = timedelta(seconds=1)
_LIVE = "(select count(*) from detent.node where lease_expires_at > now() and kind = $1)"


class Rig:
    """Processes, by what they are; all that was ever started is stopped at the end."""

    def __init__(self, server: EmbeddedPostgres, database: str, folder: Path) -> None:
        self.server = server
        self.database = database
        self.folder = folder
        self.settings = Settings(database_url=database, lease_ttl=TTL, look_ahead=LOOK_AHEAD)
        self.environment = {
            "DETENT_DATABASE_URL": database, "DETENT_LEASE_TTL": str(TTL), "DETENT_LOOK_AHEAD": str(LOOK_AHEAD),
            WITNESS: str(folder),
        }  # fmt: skip
        self.planner_environment: dict[str, str] = {}
        self.worker_environment: dict[str, str] = {}
        self.planners: list[Running] = []
        self.workers: list[Running] = []
        self.stall = Stall()
        self._schedules = 0
        self.begin: datetime
        self.end: datetime

    # Processes

    def planner(self) -> Running:
        self.planners.append(Running("planner", **self.environment | self.planner_environment))
        return self.planners[-1]

    def worker(self, app: str = "tests.e2e.load:app") -> Running:
        arguments = ("worker", "--app", app, "--grace", "5s", "--no-declare")
        self.workers.append(Running(*arguments, cwd=ROOT, **self.environment | self.worker_environment))
        return self.workers[-1]

    async def crew(self, planners: int = 2, workers: int = 2) -> None:
        for _ in range(planners):
            self.planner()
        for _ in range(workers):
            self.worker()
        await self.until(f"{_LIVE} = {planners}", "planner", seconds=60)
        await self.until(f"{_LIVE} = {workers}", "worker", seconds=60)

    @property
    def all(self) -> list[Running]:
        return [*self.planners, *self.workers]

    def close(self) -> None:
        for process in self.all:
            with process:
                process.signal(signal.SIGCONT) if process.process.poll() is None else None
        self.stall.stop()

    # The database

    async def connect(self) -> asyncpg.Connection:
        return await asyncpg.connect(self.database)

    async def until(self, condition: str, *arguments: object, seconds: float = 30) -> object:
        connection = await self.connect()
        try:
            return await until(connection, condition, *arguments, seconds=seconds)
        finally:
            await connection.close()

    async def value(self, sql: str, *arguments: object) -> object:
        connection = await self.connect()
        try:
            return await connection.fetchval(sql, *arguments)
        finally:
            await connection.close()

    # The load

    async def load(self, *, a_second: int, seconds: int, after: float = 2.0) -> None:
        connection = await self.connect()
        try:
            await schedules.set_min_interval(connection, "default", SECOND)
            now = await connection.fetchval("select date_trunc('second', now())")
            self._schedules, self.begin = a_second, now + timedelta(seconds=after)
            self.end = self.begin + timedelta(seconds=seconds)
            specs = [
                {
                    "name": f"load-{n}", "target": {"task": "work"}, "overlap": "allow", "retry": {"max_attempts": 5},
                    "misfire": {"policy": "fire_all", "cap": 1000},
                    "trigger": {
                        "every": "1s", "end_at": format_instant(self.end),
                        "start_at": format_instant(self.begin + timedelta(milliseconds=n * 1000 // a_second)),
                    },
                }
                for n in range(a_second)
            ]  # fmt: skip
            refused = await create_many(connection, self.settings, specs, Actor(by="rig"))
            assert not refused, refused[0].error
        finally:
            await connection.close()

    async def until_at(self, seconds: float) -> None:
        """So long after the load began, and something runs."""
        at = self.begin + timedelta(seconds=seconds)
        await self.until("now() >= $1 and exists (select from detent.running where node is not null)", at)

    async def until_done(self, seconds: float = 60) -> None:
        await self.until(
            "not exists (select from detent.waiting) and not exists (select from detent.running)"
            " and not exists (select from detent.timer where active) and now() > $1",
            self.end, seconds=seconds,
        )  # fmt: skip

    # The judge

    async def judge(self) -> None:
        """Every slot fired once, is on record once, and began at least once; nothing else did."""
        connection = await self.connect()
        try:
            assert await audit.breaches(connection, self.begin, self.end + SECOND) == []
            slots = self._slots()
            firings = await connection.fetch("select schedule_id, scheduled_for from detent.firing")
            assert Counter(slot for _, slot in firings) == slots, "each slot has one firing, and no other has"
            assert await connection.fetchval("select count(*) from detent.omission") == 0
            ends = await connection.fetch(
                "select schedule_id, scheduled_for, outcome from detent.attempt where final"
            )
            assert Counter(end["outcome"] for end in ends) == {"succeeded": len(firings)}
            early = await connection.fetch(
                "select started_at - due_at, number, volley, kind, outcome, f.scheduled_for, due_at, planned_at, started_at from detent.attempt a"
                " join detent.firing f using (schedule_id, scheduled_for) where started_at < due_at"
            )
            assert not early, early[:10]
            await self._compare_with_witnesses(connection)
        finally:
            await connection.close()

    def _slots(self) -> Counter[datetime]:
        found: Counter[datetime] = Counter()
        for n in range(self._schedules):
            slot = self.begin + timedelta(milliseconds=n * 1000 // self._schedules)
            while slot < self.end:
                found[slot] += 1
                slot += SECOND
        return found

    async def _compare_with_witnesses(self, connection: asyncpg.Connection) -> None:
        began = Counter[tuple[int, datetime, int]]()
        keys: dict[tuple[int, datetime], str] = {}
        for path in self.folder.iterdir():
            for line in path.read_text().splitlines():
                schedule, slot, token, key = line.split()
                firing = int(schedule), datetime.fromisoformat(slot)
                began[*firing, int(token)] += 1
                assert keys.setdefault(firing, key) == key, "one key for all attempts of a firing"
        assert set(began.values()) <= {1}, "a token begins once"
        attempts = await connection.fetch(
            "select schedule_id, scheduled_for, volley, outcome from detent.attempt"
        )
        known = {(a["schedule_id"], a["scheduled_for"], a["volley"]): a["outcome"] for a in attempts}
        assert began.keys() <= known.keys(), "whatever began is on record"
        succeeded = {token for token, outcome in known.items() if outcome == "succeeded"}
        assert succeeded <= began.keys(), "whatever succeeded had begun"
        again = Counter((schedule, slot) for schedule, slot, _ in began)
        lost = {(a["schedule_id"], a["scheduled_for"]) for a in attempts if a["outcome"] == "lost"}
        assert {firing for firing, n in again.items() if n > 1} <= lost, "nothing began twice without a loss"

    async def latest(self, *, since: datetime | None = None) -> float:
        """Seconds from a slot to the beginning of the attempt that succeeded, at most."""
        found = await self.value(
            "select max(extract(epoch from started_at - scheduled_for))::float8 from detent.attempt"
            " where outcome = 'succeeded' and scheduled_for >= $1",
            since or self.begin,
        )
        assert isinstance(found, float)
        return found

    async def lost(self) -> int:
        found = await self.value("select count(*) from detent.attempt where outcome = 'lost'")
        assert isinstance(found, int)
        return found


class Stall:
    """How long a thread that only waits was kept from the processor, at most."""

    _STEP = 0.01

    def __init__(self) -> None:
        self.worst = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            begin = clock.monotonic()
            if self._over.wait(self._STEP):
                return
            self.worst = max(self.worst, clock.monotonic() - begin - self._STEP)


@contextmanager
def running(rig: Rig) -> Iterator[Rig]:
    try:
        yield rig
    finally:
        rig.close()


def kill(process: Running, number: int = signal.SIGKILL) -> None:
    os.kill(process.process.pid, number)
