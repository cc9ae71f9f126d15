"""Fleets: many schedules at once, loaded by SQL. What a fleet does is the task `noop` of the benchmark's workers."""

from __future__ import annotations

import json
from datetime import datetime
from importlib.resources import files
from typing import Final

from detent.store.pool import Connection

_FOLDER: Final = files("detent.bench") / "sql"
NOOP: Final = json.dumps({"target": {"task": "noop"}}, separators=(",", ":"))
STAMP: Final = json.dumps({"target": {"task": "stamp"}}, separators=(",", ":"))


def bench_statement(name: str) -> str:
    return (_FOLDER / f"{name}.sql").read_text("utf-8")


async def load_schedules(connection: Connection, n: int, cadence: str, work: str) -> None:
    """Schedules 1 to n, without timers."""
    await connection.execute(bench_statement("load_schedules"), n, cadence, work)


async def load_timers(connection: Connection, n: int, next_at: datetime) -> None:
    """Their timers, all at one instant."""
    await connection.execute(bench_statement("load_timers"), n, next_at)


async def load_waiting(connection: Connection, n: int, due_at: datetime) -> None:
    """One firing each, promised and waiting, at one instant. Timers that never fire again."""
    await connection.execute(bench_statement("load_waiting"), n, due_at)


async def settle_down(connection: Connection) -> None:
    """What a database that has been running for a while has behind it: statistics, and a checkpoint."""
    await connection.execute("vacuum analyze")
    await connection.execute("checkpoint")
