"""`detent dev`: all of Detent in one process, on a PostgreSQL of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from detent.cli.options import Concurrency, Grace
from detent.cli.problem import fail
from detent.domain.errors import DetentError


def dev_command(
    app: Annotated[
        list[str] | None,
        typer.Option("--app", metavar="MODULE:APP", help="Your app; may be repeated. [default: an example]"),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="The folder of its PostgreSQL. [default: one of your user]")
    ] = None,
    concurrency: Concurrency = 200,
    grace: Grace = "10s",
    database_url: Annotated[
        str | None,
        typer.Option(help="A database instead of its own PostgreSQL. By default DETENT_DATABASE_URL."),
    ] = None,
) -> None:
    """Start all of Detent: a PostgreSQL, a planner, a worker, and what they do, line by line."""
    from detent.cli.development import develop  # noqa: PLC0415 other commands start without what it needs

    try:
        develop(app or [], data, concurrency=concurrency, grace=grace, database_url=database_url)
    except DetentError as error:
        fail(error)
