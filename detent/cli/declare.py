"""`detent declare`: makes the schedules in the store what the code of an app says. Workers do it when they start."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Final

from detent.cli.options import Apps, DatabaseUrl, LogFormat, log_to
from detent.cli.problem import fail
from detent.domain.errors import DetentError
from detent.observe.events import Events
from detent.settings import from_environment

REFUSED: Final = 1


def declare_command(app: Apps, database_url: DatabaseUrl = None) -> None:
    """Declare the schedules of an app: a step of a deployment whose workers may not write schedules."""
    from detent.cli.apps import load_app  # noqa: PLC0415 other commands start without what it needs
    from detent.cli.declaration import declare  # noqa: PLC0415

    try:
        settings = from_environment(os.environ, database_url=database_url)
        apps = [load_app(reference) for reference in app]
        done = asyncio.run(declare(settings, Events(log_to(LogFormat.CONSOLE)), apps))
    except DetentError as error:
        fail(error)
    sys.exit(REFUSED if any(one.refused for one in done) else 0)
