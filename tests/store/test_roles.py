"""Each role, logged in, may do what it needs and nothing else."""

from __future__ import annotations

import re

import asyncpg
import pytest

from detent.store import migrate
from detent.store.statements import statement, statement_names

API, PLANNER, WORKER, OWNER = "detent_api", "detent_planner", "detent_worker", "detent_migrations"
ROLES = (API, PLANNER, WORKER)
HISTORY = ("firing", "attempt", "omission", "tally", "stale_result")

# Which role runs which statement; what is not here is run by planners and workers alike.
COMMANDS = (API, PLANNER)
RUN_BY = {
    **dict.fromkeys(
        [
            "ahead", "last_waiting", "hold", "insert_schedule", "insert_schedules", "promise_many", "lock_timer", "lock_schedule", "hold_but", "omit", "omit_many", "overdue_pauses", "promise", "release",
            "replace_waiting", "revise", "declared_by", "set_status", "set_timer", "tenant", "ensure_partitions",
        ],
        COMMANDS,
    ),
    **dict.fromkeys(["now", "notify"], ROLES),
    "set_min_interval": (API,),
    **dict.fromkeys(
        ["set_tzdata", "zone_rules", "write_zone_rules", "schedules_in_zones", "last_schedule", "renew_revision",
         "catch_up_cursors", "move_catch_up", "due_timers", "plan", "hold_shard", "park", "give_shards", "take_shards", "shard_map"],
        (PLANNER,),
    ),
    "bury_node": (PLANNER, WORKER),
    "partitions": (PLANNER,),
    # The pruner's connection is the owner's.
    **dict.fromkeys([name for name in statement_names() if name.startswith("prune_")], (OWNER,)),
    "fold_tallies": (OWNER,),
    **dict.fromkeys(["cancel", "replay", "discard", "dead_letters", "find_firing"], (API,)),
    "tzdata": (API, PLANNER),
    "breaches": (API, PLANNER),
    "live_secrets": (API, WORKER),
    **dict.fromkeys(
        ["insert_secret", "replace_secret", "retire_signing", "delete_secret", "named_secrets", "sealed_otherwise", "reseal"],
        (API,),
    ),
    "wish_pauses": (WORKER,),
    **dict.fromkeys(["pause_wishes", "forget_pause_wish"], (PLANNER,)),
}  # fmt: skip


@pytest.fixture(scope="module")
def roles_database(postgres):
    """Migrated in place, for the settings of roles belong to one database and are not copied; its roles may log in."""
    url = postgres.fresh()
    postgres.run(_migrate(url))
    for role in (*ROLES, OWNER):
        postgres.execute(f"alter role {role} login")
    yield url
    for role in (*ROLES, OWNER):
        postgres.execute(f"alter role {role} nologin")
    postgres.drop(url)


async def _migrate(url: str) -> None:
    connection = await asyncpg.connect(url)
    await migrate.migrate(connection)
    await connection.execute("select detent.ensure_partitions(current_date, current_date)")
    await connection.close()


@pytest.fixture
async def log_in(roles_database):
    made = []

    async def session(role: str) -> asyncpg.Connection:
        made.append(await asyncpg.connect(as_user(roles_database, role)))
        return made[-1]

    yield session
    for connection in made:
        connection.terminate()


def as_user(url: str, role: str) -> str:
    return url.replace("postgres@", f"{role}@")


async def refused(connection: asyncpg.Connection, sql: str) -> bool:
    try:
        async with connection.transaction():
            await connection.execute(f"explain {sql}")
    except asyncpg.InsufficientPrivilegeError:
        return True
    return False


def literally(sql: str, types: list[str]) -> str:
    """With nulls and empty arrays for its parameters: rights are looked at before rows are."""
    for number in range(len(types), 0, -1):
        sql = re.sub(rf"\${number}\b", f"'{{}}'::{types[number - 1]}" if types[number - 1].endswith("[]")
                     else f"null::{types[number - 1]}", sql)  # fmt: skip
    return sql


@pytest.mark.parametrize("name", statement_names())
async def test_who_runs_a_statement_may(log_in, name):
    for role in RUN_BY.get(name, (PLANNER, WORKER)):
        connection = await log_in(role)
        prepared = await connection.prepare(statement(name))
        types = [kind.name + ("[]" if kind.kind == "array" else "") for kind in prepared.get_parameters()]
        types = [kind.replace("[][]", "[]") for kind in types]
        assert not await refused(connection, literally(statement(name), types)), f"{role} may not run {name}"


FUNCTIONS = {
    WORKER: ["claim_v1", "conclude_v1", "end_waiting_v1", "hand_back_v1", "overlap_v1", "wake_v1"],
    PLANNER: [
        "plan_v1",
        "conclude_v1",
        "end_waiting_v1",
        "hand_back_v1",
        "overlap_v1",
        "wake_v1",
        "ensure_partitions",
    ],
    API: ["ensure_partitions", "cancel_v1", "wake_v1"],
}


@pytest.mark.parametrize(
    ("role", "name"), [(role, name) for role, names in FUNCTIONS.items() for name in names]
)
async def test_who_calls_a_function_may_do_all_that_it_does(log_in, roles_database, role, name):
    connection = await log_in(role)
    types = await connection.fetch(
        "select format_type(t, null) as t from pg_proc p, unnest(p.proargtypes) t"
        " where p.pronamespace = 'detent'::regnamespace and p.proname = $1",
        name,
    )
    given = ["array[1]::bigint[]" if name == "wake_v1" else f"{empty(row['t'])}" for row in types]
    async with connection.transaction():
        await connection.execute(f"select * from detent.{name}({', '.join(given)})")


def empty(kind: str) -> str:
    if kind.endswith("[]"):
        return f"'{{}}'::{kind}"
    return {
        "text": "''",
        "timestamp with time zone": "now()",
        "date": "current_date + 1",
        "interval": "'1 s'",
    }.get(kind, f"1::{kind}")


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("table", HISTORY)
async def test_history_is_append_only(log_in, role, table):
    connection = await log_in(role)
    assert await refused(connection, f"delete from detent.{table}")
    assert await refused(connection, f"update detent.{table} set tenant_id = 2" if table != "stale_result"
                         else "update detent.stale_result set number = 2")  # fmt: skip
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await connection.execute(f"truncate detent.{table}")


@pytest.mark.parametrize("role", ROLES)
async def test_a_partition_is_no_way_around_its_table(log_in, role):
    connection = await log_in(role)
    part = await connection.fetchval(
        "select 'detent.firing_' || to_char(now() at time zone 'UTC', 'YYYYMMDD')"
    )
    assert await refused(connection, f"delete from {part}")
    assert await refused(connection, f"select from {part}")


@pytest.mark.parametrize(
    ("role", "sql"),
    [
        (WORKER, "select spec from detent.revision"),
        (WORKER, "select cadence from detent.schedule"),
        (WORKER, "select from detent.omission"),
        (WORKER, "update detent.schedule set work = ''"),
        (WORKER, "update detent.timer set next_at = now()"),
        (WORKER, "insert into detent.firing values (1)"),
        (WORKER, "update detent.shard set epoch = 9"),
        (WORKER, "update detent.tenant set cap = 1"),
        (WORKER, "update detent.secret set sealed = ''"),
        (PLANNER, "select from detent.secret"),
        (WORKER, "select detent.ensure_partitions(current_date, current_date)"),
        (PLANNER, "update detent.revision set spec = '{}'"),
        (PLANNER, "update detent.tenant set cap = 1"),
        (PLANNER, "delete from detent.schedule"),
        (API, "update detent.revision set spec = '{}'"),
        (API, "delete from detent.revision"),
        (API, "update detent.shard set epoch = 9"),
        (API, "update detent.node set lease_expires_at = now()"),
        (API, "insert into detent.running values (1)"),
        (API, "insert into detent.dead values (1)"),
        (API, "delete from detent.schedule"),
        *((role, "insert into detent.migration values ('x')") for role in ROLES),
        *((role, "create table detent.more ()") for role in ROLES),
        *((role, "drop table detent.waiting") for role in ROLES),
    ],
)
async def test_it_may_not(log_in, role, sql):
    connection = await log_in(role)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await connection.execute(sql)


async def test_every_table_is_thought_of(log_in):
    """A new table is in no one's rights until somebody puts it there."""
    connection = await log_in(OWNER)
    unthought = await connection.fetch(
        "select relname from pg_class c where relnamespace = 'detent'::regnamespace and relkind in ('r', 'p')"
        " and not relispartition and not exists (select from unnest($1::text[]) role"
        "   where has_any_column_privilege(role, c.oid, 'select'))",
        list(ROLES),
    )
    assert not unthought


@pytest.mark.parametrize("role", ROLES)
async def test_sessions_have_time_outs_without_asking(log_in, role):
    connection = await log_in(role)
    assert await connection.fetchval("show statement_timeout") == "7s"
    assert await connection.fetchval("show lock_timeout") == "3s"
    assert await connection.fetchval("show idle_in_transaction_session_timeout") == "4s"


async def test_the_owner_migrates_and_drops_partitions(log_in):
    connection = await log_in(OWNER)
    assert await migrate.migrate(connection) == []
    assert await connection.fetchval("select detent.ensure_partitions('2030-01-01', '2030-01-01')") == 2
    await connection.execute("alter table detent.firing detach partition detent.firing_20300101 concurrently")
    await connection.execute("drop table detent.firing_20300101")


async def test_partitions_are_made_for_those_who_could_not(log_in):
    connection = await log_in(PLANNER)
    assert await connection.fetchval("select detent.ensure_partitions('2031-01-01', '2031-01-02')") == 4
    assert await connection.fetchval("select detent.ensure_partitions('2031-01-01', '2031-01-02')") == 0
    with pytest.raises(asyncpg.InvalidParameterValueError):
        await connection.fetchval("select detent.ensure_partitions('2031-01-01', '2041-01-01')")
    owners = await connection.fetch(
        "select distinct relowner::regrole::text from pg_class where relname like 'firing%'"
    )
    assert [row[0] for row in owners] == [OWNER]


@pytest.fixture
def owned_database(postgres):
    """A database of a user who may make no roles, as hosted databases have it."""
    postgres.execute("drop role if exists tenant_of_host")
    postgres.execute("create role tenant_of_host login")
    url = postgres.fresh()
    name = url.rpartition("?")[0].rpartition("/")[2]
    postgres.execute(f"alter database {name} owner to tenant_of_host")
    yield url
    postgres.drop(url)
    postgres.execute("drop role tenant_of_host")


async def test_a_user_who_may_make_no_roles_migrates_and_is_told(postgres, owned_database):
    without_roles(postgres)
    try:
        connection = await asyncpg.connect(as_user(owned_database, "tenant_of_host"))
        heard = []
        connection.add_log_listener(lambda _, message: heard.append(message))
        assert len(await migrate.migrate(connection)) == len(migrate.steps())
        [told] = [message for message in heard if message.hint]
        assert told.message.startswith("tenant_of_host may not create the roles detent_api, ")
        assert "create role detent_worker nologin;" in told.hint
        assert await connection.fetchval("select detent.ensure_partitions(current_date, current_date)") == 2
        assert await migrate.migrate(connection) == []
        await connection.close()
    finally:
        with_roles(postgres)


async def test_roles_that_came_later_get_their_rights_at_the_next_migration(postgres, owned_database):
    without_roles(postgres)
    try:
        connection = await asyncpg.connect(as_user(owned_database, "tenant_of_host"))
        await migrate.migrate(connection)
    finally:
        with_roles(postgres)
    assert not await connection.fetchval(
        "select has_table_privilege('detent_worker', 'detent.waiting', 'delete')"
    )
    await migrate.migrate(connection)
    assert await connection.fetchval(
        "select has_table_privilege('detent_worker', 'detent.waiting', 'delete')"
    )
    await connection.close()


def without_roles(postgres) -> None:
    """They belong to the server and have rights in other databases: so they go by another name meanwhile."""
    for role in (*ROLES, OWNER):
        postgres.execute(f"alter role {role} rename to away_{role}")


def with_roles(postgres) -> None:
    for role in (*ROLES, OWNER):
        postgres.execute(f"alter role away_{role} rename to {role}")
