"""Every statement and every function is understood by the server, in a database as `detent migrate` leaves it."""

from __future__ import annotations

import re

import asyncpg
import pytest

from detent.store.migrate import steps
from detent.store.statements import statement, statement_names

FUNCTIONS = [step.name for step in steps() if step.name.startswith("functions/")]


@pytest.fixture
async def session(module_database):
    connection = await asyncpg.connect(module_database, statement_cache_size=0)
    yield connection
    await connection.close()


@pytest.mark.parametrize("name", statement_names())
async def test_a_statement_can_be_prepared(session, name):
    prepared = await session.prepare(statement(name))
    asked = {int(number) for number in re.findall(r"\$(\d+)", code_of(statement(name)))}
    assert len(prepared.get_parameters()) == max(asked, default=0)
    assert asked == set(range(1, len(asked) + 1)), "parameters are numbered without gaps"


@pytest.mark.parametrize("name", statement_names())
def test_a_statement_says_what_it_is_for_and_is_one(name):
    text = statement(name)
    assert text.startswith("-- ")
    assert ";" not in code_of(text).rstrip().removesuffix(";")


@pytest.mark.parametrize("name", FUNCTIONS)
async def test_a_function_runs_with_nothing_to_do(session, name):
    """plpgsql looks at a statement only when it comes to it: see `test_a_function_is_sound`, too."""
    function = name.removeprefix("functions/").removesuffix(".sql")
    arguments = await session.fetch(
        "select format_type(t, null) as type from pg_proc p, unnest(p.proargtypes) t"
        " where p.pronamespace = 'detent'::regnamespace and p.proname = $1",
        function,
    )
    given = ", ".join(empty(row["type"]) for row in arguments)
    async with session.transaction():
        await session.execute(f"select * from detent.{function}({given})")


@pytest.mark.parametrize("name", FUNCTIONS)
async def test_a_function_is_sound(session, name):
    """Each of its statements, reached or not, is one that the server can plan."""
    function = name.removeprefix("functions/").removesuffix(".sql")
    body = await session.fetchval(
        "select prosrc from pg_proc where pronamespace = 'detent'::regnamespace and proname = $1", function
    )
    assert "$" not in code_of(body), "variables have names"
    if await session.fetchval("select count(*) from pg_available_extensions where name = 'plpgsql_check'"):
        await session.execute("create extension if not exists plpgsql_check")
        found = await session.fetch(
            "select c.* from pg_proc p, plpgsql_check_function(p.oid, fatal_errors => false) c"
            " where p.pronamespace = 'detent'::regnamespace and p.proname = $1",
            function,
        )
        assert not found


def code_of(sql: str) -> str:
    return re.sub(r"--[^\n]*", "", sql)


def empty(kind: str) -> str:
    if kind.endswith("[]"):
        return f"'{{}}'::{kind}"
    return {"text": "''", "timestamp with time zone": "now()", "interval": "'1 s'"}.get(kind, f"1::{kind}")
