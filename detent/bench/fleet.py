"""Fleets: many schedules at once, loaded by SQL. What a fleet does is a task of the benchmark's crew."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Final

from detent.store.pool import Connection

_FOLDER: Final = files("detent.bench") / "sql"
NOOP: Final = json.dumps({"target": {"task": "noop"}}, separators=(",", ":"))
STAMP: Final = json.dumps({"target": {"task": "stamp"}}, separators=(",", ":"))


def bench_statement(name: str) -> str:
    return (_FOLDER / f"{name}.sql").read_text("utf-8")


async def load_schedules(connection: Connection, n: int, cadences: Sequence[str], work: str) -> None:
    """Schedules 1 to n, without timers; the cadences take turns."""
    await connection.execute(bench_statement("load_schedules"), n, cadences, work)


async def load_fleet(
    connection: Connection, n: int, cadences: Sequence[str], work: str, first: datetime,
    step: timedelta = timedelta(milliseconds=1),
) -> None:  # fmt: skip
    """Schedules 1 to n and their timers; each cadence's first slot is a step after the one before."""
    await load_schedules(connection, n, cadences, work)
    await connection.execute(bench_statement("load_timers"), n, first, step, len(cadences))


async def load_waiting(connection: Connection, n: int, due_at: datetime) -> None:
    """One firing each, promised and waiting, at one instant. Timers that never fire again."""
    await connection.execute(bench_statement("load_waiting"), n, due_at)


async def settle_down(connection: Connection) -> None:
    """What a database that has been running for a while has behind it: statistics, and a checkpoint."""
    await connection.execute("vacuum analyze")
    await connection.execute("checkpoint")


async def load_one_offs(connection: Connection, n: int, work: str, first: datetime, step: timedelta) -> None:
    """Schedules 1 to n that fire once, each a step after the one before."""
    await connection.execute(bench_statement("load_one_offs"), n, first, step, work)
