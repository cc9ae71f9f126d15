"""What `detent migrate` does, once it is asked for."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any, Final

import asyncpg

from detent.domain.errors import DetentError
from detent.settings import Settings, find, from_environment
from detent.store import migrate as schema
from detent.store.pool import Connection, connect_patiently

PENDING: Final = 1


def migrate(database_url: str | None, *, print_only: bool, check: bool) -> int:
    """The exit code."""
    if print_only and find(os.environ, database_url=database_url)["database_url"].value is None:
        print(schema.script(schema.steps()))
        return 0
    settings = from_environment(os.environ, database_url=database_url, maintenance_url=database_url)
    try:
        return asyncio.run(_run(settings, print_only=print_only, check=check))
    except asyncpg.PostgresError as error:
        raise DetentError(f"the database refuses: {error}") from error


async def _run(settings: Settings, *, print_only: bool, check: bool) -> int:
    connection = await connect_patiently(settings)
    try:
        if not print_only and not check:
            connection.add_log_listener(_tell)
            ran = await schema.migrate(connection)
            print("\n".join(f"ran {name}" for name in ran) or "nothing to do: the schema is of this version")
            return 0
        waiting = await schema.pending(connection)
        if print_only:
            print(schema.script(waiting) if waiting else "-- nothing to do: the schema is of this version")
            return 0
        print("\n".join(f"would run {step.name}" for step in waiting) or "the schema is of this version")
        return PENDING if waiting else 0
    finally:
        await connection.close()


def _tell(_: Connection, message: Any) -> None:
    if message.severity_en in ("NOTICE", "WARNING") and message.hint:
        print(f"{message.message}\n{message.hint}", file=sys.stderr)
