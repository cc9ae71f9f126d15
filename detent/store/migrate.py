"""The schema: plain SQL, forward only, then the functions, which are written anew when their text changes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

import asyncpg

from detent.domain.errors import DetentError
from detent.store.pool import Connection

_STORE: Final = files("detent.store")
_LOCK: Final = 0x6465_7465_6E74
"""One migration at a time; released with its session."""
_PATIENCE: Final = "60s"


class SchemaError(DetentError):
    """The schema is not the one that this version needs."""

    code = "schema"


@dataclass(frozen=True, slots=True)
class Step:
    """A migration, or a function: both are a name and a text."""

    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def steps() -> list[Step]:
    """All of it in order: migrations, functions, roles."""
    return [*_steps(_STORE / "migrations"), *_steps(_STORE / "functions")]


def _steps(folder: Traversable) -> list[Step]:
    named = sorted((path.name, path) for path in folder.iterdir() if path.name.endswith(".sql"))
    return [Step(f"{folder.name}/{name}", path.read_text("utf-8")) for name, path in named]


async def pending(connection: Connection) -> list[Step]:
    """What `migrate` would run. Refuses a schema made by a later version, and a migration edited after it ran."""
    done = await _done(connection)
    known = {step.name for step in steps()}
    if later := sorted(name for name in done.keys() - known if name.startswith("migrations/")):
        raise SchemaError(f"the schema was made by a later version of Detent ({later[-1]}): use that version")
    found = []
    for step in steps():
        if done.get(step.name) == step.checksum:
            continue
        if step.name in done and step.name.startswith("migrations/"):
            raise SchemaError(
                f"{step.name} was changed after it had run: migrations are never edited, only added"
            )
        found.append(step)
    return found


async def migrate(connection: Connection) -> list[str]:
    """Brings the schema to this version; returns what was run."""
    async with connection.transaction():
        await connection.execute(f"set local lock_timeout = '{_PATIENCE}'; set local statement_timeout = 0")
        await connection.fetchval("select pg_advisory_xact_lock($1::bigint)", _LOCK)
        await connection.execute(
            "create schema if not exists detent;"
            "create table if not exists detent.migration"
            " (name text primary key, checksum text not null, applied_at timestamptz not null default now())"
        )
        ran = await pending(connection)
        for step in ran:
            await connection.execute(step.text)
            await connection.execute(
                "insert into detent.migration (name, checksum) values ($1, $2)"
                " on conflict (name) do update set checksum = excluded.checksum, applied_at = now()",
                step.name,
                step.checksum,
            )
    return [step.name for step in ran]


async def refuse_old_schema(connection: Connection) -> None:
    """For processes that need the schema and must not make it."""
    if waiting := await pending(connection):
        raise SchemaError(f"the schema lacks {waiting[0].name}: run `detent migrate`")


async def _done(connection: Connection) -> dict[str, str]:
    try:
        rows = await connection.fetch("select name, checksum from detent.migration")
    except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError):
        return {}
    return {row["name"]: row["checksum"] for row in rows}
