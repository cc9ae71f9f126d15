"""`detent version`: what is running, and by which zone rules."""

from __future__ import annotations

import json
import platform
from typing import Annotated

import typer

from detent import __version__
from detent.domain.zone import TZDATA_VERSION


def version_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the versions of Detent, of its zone rules and of Python."""
    versions = {"detent": __version__, "tzdata": TZDATA_VERSION, "python": platform.python_version()}
    if as_json:
        print(json.dumps(versions))
    else:
        print("\n".join(f"{name} {version}" for name, version in versions.items()))
