"""`detent worker`: runs the tasks of apps."""

from __future__ import annotations

from typing import Annotated

import typer

from detent.cli.options import (
    Apps,
    Concurrency,
    DatabaseUrl,
    Grace,
    LogFormat,
    LogOption,
    grace_seconds,
    log_to,
)
from detent.cli.problem import fail
from detent.domain.errors import DetentError
from detent.observe.events import Events


def worker_command(
    app: Apps,
    pool: Annotated[
        list[str] | None,
        typer.Option("--pool", metavar="NAME", help="A pool that it serves; may be repeated. [default: default]"),
    ] = None,
    concurrency: Concurrency = 200,
    processes: Annotated[int, typer.Option(min=1, max=256, help="How many of it, each with that concurrency.")] = 1,
    grace: Grace = "30s",
    declare: Annotated[
        bool, typer.Option("--declare/--no-declare", help="Whether it declares the schedules of its apps first.")
    ] = True,
    database_url: DatabaseUrl = None,
    log: LogOption = LogFormat.CONSOLE,
) -> None:  # fmt: skip
    """Run a worker. Start as many as you like; each takes what it has room for."""
    from detent.cli.nodes import run_processes, run_worker  # noqa: PLC0415 other commands start without it

    events, pools = Events(log_to(log)), list(dict.fromkeys(pool or ["default"]))
    try:
        seconds = grace_seconds(grace)
        if processes == 1:
            run_worker(
                events, app, pools=pools, concurrency=concurrency, grace=seconds, declares=declare,
                database_url=database_url,
            )  # fmt: skip
            return
    except DetentError as error:
        fail(error)
    given = [f"--app={one}" for one in app] + [f"--pool={one}" for one in pools]
    given += [f"--concurrency={concurrency}", f"--grace={grace}", f"--log={log.value}"]
    given += ["--declare" if declare else "--no-declare"]
    given += [f"--database-url={database_url}"] if database_url else []
    raise typer.Exit(run_processes(events, ["worker", *given], processes))
