"""The schema: plain SQL, forward only; then the functions and the rights, which are written anew when they change.

Objects belong to `detent_migrations` where the user who migrates may act as it, else to that user.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

import asyncpg

from detent import clock
from detent.domain.errors import DetentError
from detent.store.pool import Connection

_STORE: Final = files("detent.store")
_LOCK: Final = 0x6465_7465_6E74
"""One migration at a time; released with its transaction."""
_TURN: Final = "10min"
"""How long one migration waits for another."""
_LOCK_TIMEOUT: Final = "3s"
"""Whoever waits for a table makes all others wait behind it: rather give up, and try again."""
_TRIES: Final = 20
_OWNER: Final = "detent_migrations"
_SCHEMA: Final = "create schema if not exists detent;\n"
_RECORDS: Final = """\
create table if not exists detent.migration
  (name text primary key, checksum text not null, applied_at timestamptz not null default now());
"""
_RECORD: Final = """\
insert into detent.migration (name, checksum) values ($1, $2)
on conflict (name) do update set checksum = excluded.checksum, applied_at = now()"""


class SchemaError(DetentError):
    """The schema is not the one that this version needs."""

    code = "schema"


@dataclass(frozen=True, slots=True)
class Step:
    """A migration, a function or a set of rights: each is a name and a text."""

    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def once(self) -> bool:
        """Runs once, and is never edited; the others are written anew when their text changes."""
        return self.name.startswith("migrations/")


def steps() -> list[Step]:
    """All of it in order: migrations, functions, roles."""
    return [*_steps("migrations"), *_steps("functions"), *_steps("roles")]


def _steps(folder: str) -> list[Step]:
    named: list[tuple[str, Traversable]] = sorted(
        (path.name, path) for path in (_STORE / folder).iterdir() if path.name.endswith(".sql")
    )
    return [Step(f"{folder}/{name}", path.read_text("utf-8")) for name, path in named]


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
        if step.name in done and step.once:
            raise SchemaError(
                f"{step.name} was changed after it had run: migrations are never edited, only added"
            )
        found.append(step)
    return found


async def migrate(connection: Connection) -> list[str]:
    """Brings the schema to this version; returns what was run. One transaction: all of it or nothing."""
    for _ in range(_TRIES):
        try:
            async with connection.transaction():
                return await _migrate(connection)
        except asyncpg.LockNotAvailableError:
            await clock.sleep(random.uniform(0.5, 1.5))  # noqa: S311
        except asyncpg.InsufficientPrivilegeError as error:
            raise SchemaError(
                f"this user may not change the schema ({error}): migrate as its owner, by --database-url"
            ) from error
    raise SchemaError(
        "the tables are locked by others for too long: find them in pg_stat_activity, and try again"
    )


async def refuse_old_schema(connection: Connection) -> None:
    """For processes that need the schema and must not make it. A later one will do: it only adds to ours."""
    done = await _done(connection)
    if missing := [step.name for step in steps() if step.name not in done]:
        raise SchemaError(f"the schema lacks {missing[0]}: run `detent migrate`")


def script(chosen: list[Step]) -> str:
    """The same as one text, for psql, run as the user who shall own the schema."""
    return "\n".join(_script(chosen))


def _script(chosen: list[Step]) -> Iterator[str]:
    yield "begin;\n"
    for step in chosen:
        if step.name.startswith("roles/1"):
            yield f"-- {step.name}\n{step.text}"
    yield _SCHEMA + _RECORDS
    for step in chosen:
        if not step.name.startswith("roles/1"):
            yield f"-- {step.name}\n{step.text}"
    for step in chosen:
        yield _RECORD.replace("$1", f"'{step.name}'").replace("$2", f"'{step.checksum}'") + ";\n"
    yield "commit;"


async def _migrate(connection: Connection) -> list[str]:
    await connection.execute(f"set local lock_timeout = '{_TURN}'; set local statement_timeout = 0")
    await connection.fetchval("select pg_advisory_xact_lock($1::bigint)", _LOCK)
    await connection.execute(f"set local lock_timeout = '{_LOCK_TIMEOUT}'")
    create_roles, rights, time_outs = _steps("roles")
    await connection.execute(create_roles.text)
    await _become_owner(connection)
    await connection.execute(_RECORDS)
    ran = await pending(connection)
    for step in ran:
        if not step.name.startswith("roles/"):
            await connection.execute(step.text)
        await connection.execute(_RECORD, step.name, step.checksum)
    await connection.execute(rights.text)
    await connection.execute("reset role")
    await connection.execute(time_outs.text)
    return [step.name for step in ran]


async def _become_owner(connection: Connection) -> None:
    """Until `reset role`, and makes the schema if there is none."""
    owner = await connection.fetchval(
        "select pg_get_userbyid(nspowner) from pg_namespace where nspname = 'detent'"
    )
    try:
        async with connection.transaction():  # of its own, so that a refusal leaves the other whole
            if owner is None:
                await connection.execute(f"create schema detent authorization {_OWNER}")
            await connection.execute("select set_config('role', $1, true)", owner or _OWNER)
    except (asyncpg.InsufficientPrivilegeError, asyncpg.UndefinedObjectError):
        if owner is None:
            await connection.execute(_SCHEMA)


async def _done(connection: Connection) -> dict[str, str]:
    try:
        rows = await connection.fetch("select name, checksum from detent.migration")
    except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError):
        return {}
    return {row["name"]: row["checksum"] for row in rows}
