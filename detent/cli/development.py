"""What `detent dev` does: a database, the app's schedules in it, and a node that plans and works."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

import uvloop

from detent import __version__
from detent.app import Detent
from detent.cli.apps import load_app, tasks_of
from detent.cli.board import SHOWN_HERE, Board
from detent.cli.declaration import declare
from detent.cli.options import grace_seconds
from detent.cli.reader import reader_zone
from detent.cli.serve import Duty, serve
from detent.cli.stop import Stop
from detent.observe.events import Events
from detent.observe.logs import Log
from detent.settings import Settings, find, from_environment, masked
from detent.store import migrate, schedules
from detent.store.embedded import EmbeddedPostgres, default_data
from detent.store.keeper import kept
from detent.store.pool import connect_patiently

EXAMPLE: Final = "detent.example:app"
_MIN_INTERVAL: Final = timedelta(seconds=1)
"""Nobody waits a minute to see whether it works."""


def develop(
    references: Sequence[str], data: Path | None, *, concurrency: int, grace: str, database_url: str | None
) -> None:
    seconds = grace_seconds(grace)
    apps = [load_app(reference) for reference in references or [EXAMPLE]]
    board = Board(reader_zone(), _print)
    events = Events(Log(sys.stdout, but=SHOWN_HERE), board, successes=True)
    pools = {str(spec.get("pool", "default")) for app in apps for spec in app.schedules.values()}
    duty = Duty(
        tasks=tasks_of(apps), pools=sorted({"default"} | pools), concurrency=concurrency, grace=seconds
    )
    with _database(database_url, data, events) as settings:
        _print(f"  app       {_said(references, apps)}")
        _print(f"  running   planner and worker, process {os.getpid()}; pools {', '.join(duty.pools)}")
        uvloop.run(_run(settings, events, board, apps, duty))


@contextmanager
def _database(url: str | None, data: Path | None, events: Events) -> Iterator[Settings]:
    """The one that was given, or our own for as long as we run."""
    found = find(os.environ, database_url=url)["database_url"]
    if found.value is not None:
        _print(f"Detent {__version__}\n  database  {masked(found.value)}, by {found.origin}")
        yield from_environment(os.environ, database_url=url)
        return
    server = EmbeddedPostgres(data=data or default_data())
    with kept(server, events):
        what = f"PostgreSQL {server.version} of its own, process {server.pid}"
        _print(f"Detent {__version__}\n  database  {what}; data in {server.data}")
        _print(f"  connect   {_psql(server)} {shlex.quote(server.url)}")
        yield from_environment(os.environ, database_url=server.url)


async def _run(settings: Settings, events: Events, board: Board, apps: Sequence[Detent], duty: Duty) -> None:
    stop = Stop()
    await _set_up(settings)
    await declare(settings, events, apps)
    _print("  stop      Ctrl-C lets what runs end; twice ends it at once\n")
    await serve(settings, events, stop, plans=True, duty=duty, prepare=board.run_on)


async def _set_up(settings: Settings) -> None:
    connection = await connect_patiently(settings)
    try:
        await migrate.migrate(connection)
        await schedules.set_min_interval(connection, "default", _MIN_INTERVAL)
    finally:
        await connection.close()


def _said(references: Sequence[str], apps: Sequence[Detent]) -> str:
    tasks, declared = sum(len(app.tasks) for app in apps), sum(len(app.schedules) for app in apps)
    named = ", ".join(references) or f"{EXAMPLE}, an example: --app module:app runs yours"
    return f"{named} ({tasks} tasks, {declared} schedules)"


def _psql(server: EmbeddedPostgres) -> str:
    return "psql" if shutil.which("psql") else str(server.program("psql"))


def _print(line: str) -> None:
    print(line, flush=True)
