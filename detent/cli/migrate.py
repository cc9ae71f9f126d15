"""`detent migrate`: brings the schema of the database to this version."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from detent.cli.problem import fail
from detent.domain.errors import DetentError


def migrate_command(
    database_url: Annotated[
        str | None, typer.Option(help="The database. By default DETENT_DATABASE_URL.")
    ] = None,
    print_only: Annotated[
        bool, typer.Option("--print", help="Print the SQL, and run nothing. Without a database: all of it.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Run nothing; exit 0 if the schema is of this version, else 1.")
    ] = False,
) -> None:
    """Make the schema, or bring it to this version. It only adds: the version before goes on working."""
    from detent.cli.migration import migrate  # noqa: PLC0415 other commands start without what it needs

    try:
        code = migrate(database_url, print_only=print_only, check=check)
    except DetentError as error:
        fail(error)
    sys.exit(code)
