"""`detent bench`: what Detent does on this machine, beside what bare PostgreSQL does."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final

import typer

from detent.cli.problem import fail
from detent.domain.errors import DetentError


class Benchmark(StrEnum):
    DRAIN = "drain"
    PLAN = "plan"
    LAG = "lag"
    BURST = "burst"
    CRON = "cron"
    BLOAT = "bloat"


class BenchOptionError(DetentError):
    """An option that this benchmark doesn't have."""

    code = "bench_option"


# Which options a benchmark has, and what its function calls them.
_OPTIONS: Final[Mapping[Benchmark, Mapping[str, str]]] = {
    Benchmark.DRAIN: {"firings": "n", "processes": "processes"},
    Benchmark.PLAN: {"schedules": "n", "firings": "n"},
    Benchmark.LAG: {"firings": "n"},
    Benchmark.BURST: {"firings": "n", "processes": "processes"},
    Benchmark.CRON: {"schedules": "n", "processes": "processes"},
    Benchmark.BLOAT: {"schedules": "n", "seconds": "seconds", "runs": "runs"},
}


def bench_command(
    name: Annotated[Benchmark, typer.Argument(help="What to measure.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    schedules: Annotated[int | None, typer.Option(min=1, help="plan, cron, bloat: how many.")] = None,
    firings: Annotated[int | None, typer.Option(min=1, help="drain, plan, lag, burst: how many.")] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, max=64, help="drain, burst, cron: worker processes.")
    ] = None,
    seconds: Annotated[int | None, typer.Option(min=1, help="bloat: of one run; 180 by default.")] = None,
    runs: Annotated[int | None, typer.Option(min=1, help="bloat: pairs of runs; 3 by default.")] = None,
    database: Annotated[
        str | None,
        typer.Option(
            help="A PostgreSQL to make a database in, dropped afterwards. By default an embedded one."
        ),
    ] = None,
) -> None:
    """Measure Detent on this machine, with a durable PostgreSQL. Leaves nothing behind."""
    import asyncpg  # noqa: PLC0415 other commands start without it

    given = {
        "schedules": schedules, "firings": firings, "processes": processes, "seconds": seconds, "runs": runs,
    }  # fmt: skip
    try:
        options = _options(name, {option: value for option, value in given.items() if value is not None})
        measure = getattr(
            importlib.import_module(f"detent.bench.{name}"), name
        )  # only what is measured is imported
        figures = measure(database, **options)
    except (DetentError, asyncpg.PostgresError, OSError) as error:
        fail(error if isinstance(error, DetentError) else DetentError(f"the database refuses: {error}"))
    figures["cores"] = os.cpu_count()
    print(json.dumps(figures) if as_json else _as_table(figures))


def _options(name: Benchmark, given: Mapping[str, int]) -> dict[str, int]:
    known = _OPTIONS[name]
    for option in given:
        if option not in known:
            has = ", ".join(f"--{one}" for one in known)
            raise BenchOptionError(f"bench {name} has no --{option}: it has {has}")
    return {known[option]: value for option, value in given.items()}


def _as_table(figures: Mapping[str, Any]) -> str:
    flat = dict(_flat(figures))
    width = max(map(len, flat))
    return "\n".join(f"{name:<{width}}  {_said(value)}" for name, value in flat.items())


def _flat(figures: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in figures.items():
        rows += _flat(value, f"{prefix}{name} ") if isinstance(value, Mapping) else [(prefix + name, value)]
    return rows


def _said(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(_said, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
