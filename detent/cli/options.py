"""Options that several commands have."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from detent.domain.duration import parse_duration
from detent.observe.logs import Log


class LogFormat(StrEnum):
    CONSOLE = "console"
    JSON = "json"


DatabaseUrl = Annotated[str | None, typer.Option(help="The database. By default DETENT_DATABASE_URL.")]
Apps = Annotated[
    list[str],
    typer.Option("--app", metavar="MODULE:APP", help="The app whose tasks it runs; may be repeated."),
]
LogOption = Annotated[LogFormat, typer.Option("--log", help="How it tells what happens, on standard error.")]
Concurrency = Annotated[int, typer.Option(min=1, max=10_000, help="Firings that run at once, in a process.")]
Grace = Annotated[
    str,
    typer.Option(
        metavar="DURATION", help="How long running firings may take to end when it is told to stop."
    ),
]


def log_to(log: LogFormat) -> Log:
    return Log(sys.stderr, as_json=log is LogFormat.JSON)


def grace_seconds(text: str) -> float:
    return parse_duration(text, "grace").total_seconds()
