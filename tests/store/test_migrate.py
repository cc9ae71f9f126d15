"""`detent migrate`: by the command, as people use it, and where two of it meet."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from detent.store import migrate
from detent.store.migrate import SchemaError, Step
from tests.cli.run import detent
from tests.postgres import until_blocked
from tools import schema


@pytest.fixture
async def empty(empty_database):
    """Two superuser sessions on a database with nothing in it."""
    sessions = [await asyncpg.connect(empty_database) for _ in range(2)]
    yield sessions
    for session in sessions:
        session.terminate()


def test_the_command_makes_the_schema_and_then_has_nothing_to_do(empty_database):
    checked = detent("migrate", "--check", DETENT_DATABASE_URL=empty_database)
    assert (checked.returncode, checked.stdout.splitlines()[0]) == (1, "would run migrations/0001_core.sql")
    first = detent("migrate", DETENT_DATABASE_URL=empty_database)
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.splitlines()[0] == "ran migrations/0001_core.sql"
    again = detent("migrate", "--database-url", empty_database)
    assert (again.returncode, again.stdout) == (0, "nothing to do: the schema is of this version\n")
    checked = detent("migrate", "--check", "--database-url", empty_database)
    assert (checked.returncode, checked.stdout) == (0, "the schema is of this version\n")


async def test_what_is_printed_makes_the_same_schema(empty):
    printed = detent("migrate", "--print")
    assert (printed.returncode, printed.stderr) == (0, "")
    await empty[0].execute(printed.stdout)
    assert await migrate.pending(empty[0]) == []
    await migrate.refuse_old_schema(empty[0])


def test_only_what_is_pending_is_printed_for_a_database(database):
    assert detent("migrate", "--print", DETENT_DATABASE_URL=database).stdout == (
        "-- nothing to do: the schema is of this version\n"
    )


def test_without_a_database_it_says_what_to_do():
    done = detent("migrate")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("detent: no database: set DETENT_DATABASE_URL")


def test_a_database_that_is_not_there_is_named_and_no_stack_is_shown():
    done = detent("migrate", "--database-url", "postgresql://localhost:1/nothing")
    assert done.returncode == 2
    assert done.stderr.startswith("detent: the database can't be reached: ")
    assert "Traceback" not in done.stderr


async def test_a_migration_that_was_edited_after_it_ran_is_refused(empty, monkeypatch):
    await migrate.migrate(empty[0])
    edited = [Step(step.name, step.text + (" " if step.once else "")) for step in migrate.steps()]
    monkeypatch.setattr(migrate, "steps", lambda: edited)
    with pytest.raises(
        SchemaError, match=r"0001_core.sql was changed after it had run: migrations are never edited"
    ):
        await migrate.migrate(empty[0])


async def test_a_function_that_was_edited_is_written_anew(empty, monkeypatch):
    await migrate.migrate(empty[0])
    [wake] = [step for step in migrate.steps() if step.name == "functions/wake_v1.sql"]
    edited = [Step(s.name, s.text + ("-- edited" if s.name == wake.name else "")) for s in migrate.steps()]
    monkeypatch.setattr(migrate, "steps", lambda: edited)
    assert await migrate.migrate(empty[0]) == [wake.name]
    assert await migrate.migrate(empty[0]) == []


async def test_the_schema_of_a_later_version_serves_but_is_not_migrated(empty):
    await migrate.migrate(empty[0])
    await empty[0].execute(
        "insert into detent.migration (name, checksum) values ('migrations/9999_later.sql', '')"
    )
    with pytest.raises(SchemaError, match=r"made by a later version of Detent \(migrations/9999_later.sql\)"):
        await migrate.migrate(empty[0])
    await migrate.refuse_old_schema(empty[0])


async def test_an_old_schema_is_refused_by_those_who_need_a_newer_one(empty):
    with pytest.raises(SchemaError, match="the schema lacks migrations/0001_core.sql: run `detent migrate`"):
        await migrate.refuse_old_schema(empty[0])


async def test_a_step_that_fails_leaves_nothing(empty, monkeypatch):
    broken = [*migrate.steps(), Step("functions/broken_v1.sql", "create function nonsense")]
    monkeypatch.setattr(migrate, "steps", lambda: broken)
    with pytest.raises(asyncpg.PostgresSyntaxError):
        await migrate.migrate(empty[0])
    assert await empty[0].fetchval("select to_regnamespace('detent')") is None


async def test_of_two_at_once_one_migrates_and_one_waits_and_has_nothing_to_do(empty, empty_database):
    first, second = empty
    watcher = await asyncpg.connect(empty_database)
    async with first.transaction():
        await first.execute(f"select pg_advisory_xact_lock({migrate._LOCK})")
        waiting = asyncio.create_task(migrate.migrate(second))
        await until_blocked(watcher, second)
        await migrate.migrate(first)
    assert await waiting == []
    await watcher.close()


async def test_a_table_that_others_hold_is_tried_again_and_not_queued_for(empty, monkeypatch):
    """Whoever waits for a lock makes all that come later wait behind it."""
    holder, migrating = empty
    await migrate.migrate(holder)
    one_more = [
        *migrate.steps(),
        Step("migrations/0002_more.sql", "alter table detent.waiting add column more int;"),
    ]
    monkeypatch.setattr(migrate, "steps", lambda: one_more)
    monkeypatch.setattr(migrate, "_LOCK_TIMEOUT", "50ms")
    held = holder.transaction()
    await held.start()
    await holder.execute("select from detent.waiting")
    refused = 0

    async def pause(_: float) -> None:
        nonlocal refused
        refused += 1
        await held.rollback()

    monkeypatch.setattr(migrate.clock, "sleep", pause)
    assert await migrate.migrate(migrating) == ["migrations/0002_more.sql"]
    assert refused == 1


@pytest.mark.skipif(not schema.comparable(), reason="each version of pg_dump words things in its own way")
def test_the_committed_schema_is_what_the_migrations_make(postgres, empty_database):
    async def make() -> None:
        connection = await asyncpg.connect(empty_database)
        await migrate.migrate(connection)
        await connection.close()

    postgres.run(make())
    assert schema.dump(empty_database) == schema.PAGE.read_text("utf-8"), "run: make docs"
