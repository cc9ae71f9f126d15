"""`detent migrate`: brings the schema of the database to this version."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Annotated, Any

import asyncpg
import typer

from detent.cli.problem import fail
from detent.domain.errors import DetentError
from detent.settings import Settings, find, from_environment
from detent.store import migrate
from detent.store.pool import Connection, connect_patiently

PENDING = 1


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
    try:
        if print_only and find(os.environ, database_url=database_url)["database_url"].value is None:
            print(migrate.script(migrate.steps()))
            return
        settings = from_environment(os.environ, database_url=database_url, maintenance_url=database_url)
        code = asyncio.run(_run(settings, print_only=print_only, check=check))
    except (DetentError, asyncpg.PostgresError) as error:
        fail(error if isinstance(error, DetentError) else DetentError(f"the database refuses: {error}"))
    sys.exit(code)


async def _run(settings: Settings, *, print_only: bool, check: bool) -> int:
    connection = await connect_patiently(settings)
    try:
        if not print_only and not check:
            connection.add_log_listener(_tell)
            ran = await migrate.migrate(connection)
            print("\n".join(f"ran {name}" for name in ran) or "nothing to do: the schema is of this version")
            return 0
        waiting = await migrate.pending(connection)
        if print_only:
            print(migrate.script(waiting) if waiting else "-- nothing to do: the schema is of this version")
            return 0
        print("\n".join(f"would run {step.name}" for step in waiting) or "the schema is of this version")
        return PENDING if waiting else 0
    finally:
        await connection.close()


def _tell(_: Connection, message: Any) -> None:
    if message.severity_en in ("NOTICE", "WARNING") and message.hint:
        print(f"{message.message}\n{message.hint}", file=sys.stderr)
