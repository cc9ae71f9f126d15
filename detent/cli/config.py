"""`detent config`: every setting, its value, and where that came from."""

from __future__ import annotations

import json
import os
from typing import Annotated

import typer

from detent.cli.problem import fail
from detent.domain.errors import DetentError
from detent.settings import find, masked


def config_command(
    database_url: Annotated[
        str | None, typer.Option(help="The database, as a command would be given it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the settings, and where each value came from."""
    try:
        found = find(os.environ, database_url=database_url)
    except DetentError as error:
        fail(error)
    shown = {name: (masked(setting.value), setting.origin) for name, setting in found.items()}
    if as_json:
        print(json.dumps({name: {"value": value, "from": origin} for name, (value, origin) in shown.items()}))
        return
    width = max(map(len, shown))
    for name, (value, origin) in shown.items():
        print(f"{name:<{width}}  {'-' if value is None else value}  ({origin})")
