"""Fleets: many schedules at once, loaded by SQL. What a fleet does is a task of the benchmark's crew."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Final

from detent.bench.crew import BenchError
from detent.commands.bulk import create_many
from detent.commands.schedules import Actor
from detent.domain.instant import format_instant
from detent.settings import Settings
from detent.store.pool import Connection

_FOLDER: Final = files("detent.bench") / "sql"
NOOP: Final = json.dumps({"target": {"task": "noop"}}, separators=(",", ":"))
_REGISTERED: Final = 1_000
"""Schedules of one transaction."""


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


async def register_one_offs(
    connection: Connection, settings: Settings, n: int, task: str, first: datetime, step: timedelta
) -> None:
    """Schedules that fire once, each a step after the one before, registered like anybody's: what lies within the
    look-ahead is planned by the command."""
    specs = [
        {
            "name": f"bench-{i}", "trigger": {"at": format_instant(_whole(first + i * step))},
            "target": {"task": task},
        }
        for i in range(n)
    ]  # fmt: skip
    await register_all(connection, settings, specs)


async def register_all(
    connection: Connection, settings: Settings, specs: Sequence[Mapping[str, object]]
) -> None:
    for start in range(0, len(specs), _REGISTERED):
        batch = specs[start : start + _REGISTERED]
        refused = await create_many(connection, settings, batch, Actor(by="bench"))
        if refused:
            raise BenchError(str(refused[0].error))


def _whole(instant: datetime) -> datetime:
    """Slots lie on whole milliseconds."""
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)
