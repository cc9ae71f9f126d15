"""`detent planner`: turns slots into firings, and keeps house."""

from __future__ import annotations

from detent.cli.options import DatabaseUrl, LogFormat, LogOption, log_to
from detent.cli.problem import fail
from detent.domain.errors import DetentError
from detent.observe.events import Events


def planner_command(database_url: DatabaseUrl = None, log: LogOption = LogFormat.CONSOLE) -> None:
    """Run a planner. Start as many as you like: they share the schedules, and take over from one another."""
    from detent.cli.nodes import run_planner  # noqa: PLC0415 other commands start without what it needs

    try:
        run_planner(Events(log_to(log)), database_url=database_url)
    except DetentError as error:
        fail(error)
