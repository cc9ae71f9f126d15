"""The upkeep of history: days ahead, days that leave, and what leaves with them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from detent.clock import now
from detent.node import pruner as node_pruner
from detent.node.pruner import Pruner
from detent.observe.events import Events, PartitionHeldBack, PartitionsKept
from detent.settings import Settings
from detent.store import audit
from tests.postgres import until_blocked

DAY = timedelta(days=1)


class Upkeep:
    """A pruner with a retention of ten days, and a look at what is there."""

    def __init__(self, settings, connection):
        self.told = []
        self.settings = Settings(database_url=settings.database_url, retention_days=10)
        self.pruner = Pruner(self.settings, Events(self.told.append))
        self.connection = connection

    async def days(self, parent="firing"):
        rows = await self.connection.fetch(
            "select to_date(right(c.relname, 8), 'YYYYMMDD') as day from pg_class c where c.relname ~ $1 and c.relkind = 'r'"
            " order by 1", f"^{parent}_\\d{{8}}$",
        )  # fmt: skip
        return [(row["day"] - self.today).days for row in rows]

    @property
    def today(self):
        return now().date()

    def at(self, days_ago, hour=12):
        return datetime(self.today.year, self.today.month, self.today.day, hour, tzinfo=UTC) - days_ago * DAY

    async def open(self, *days_ago):
        for days in days_ago:
            day = (self.at(days)).date()
            await self.connection.execute("select detent.ensure_partitions($1, $1)", day)

    async def fires(self, days_ago, *, then="concluded"):
        """A firing of a day, and where it is."""
        at = self.at(days_ago)
        await self.connection.execute(
            "insert into detent.firing (schedule_id, scheduled_for, due_at, kind, revision, tenant_id)"
            " values (1, $1, $1, 'slot', 1, 1)", at,
        )  # fmt: skip
        await self.connection.execute(
            {
                "concluded": "insert into detent.attempt (schedule_id, scheduled_for, number, outcome, final, finished_at, tenant_id)"
                " values (1, $1, 1, 'succeeded', true, $1, 1)",
                "waiting": "insert into detent.waiting (schedule_id, scheduled_for, pool, lane, due_at, seats)"
                " values (1, $1, 'default', 14, $1, 1)",
                "dead": "insert into detent.dead (schedule_id, scheduled_for, number, tenant_id, outcome) values (1, $1, 1, 1, 'failed')",
                "running": "insert into detent.running (schedule_id, seat, scheduled_for, number, volley, node, started_at, lane, pool)"
                " values (1, 0, $1, 1, 1, 1, $1, 14, 'default')",
            }[then],
            at,
        )
        return at

    async def settle(self):
        for _ in range(30):
            if not await self.pruner.tick():
                return
        pytest.fail("it never comes to its end")

    def held_back(self):
        return [event for event in self.told if isinstance(event, PartitionHeldBack)]


@pytest.fixture
async def upkeep(settings, connection):
    made = Upkeep(settings, connection)
    yield made
    await made.pruner.close()
    begin, end = datetime(1990, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
    assert await audit.breaches(connection, begin, end) == []


# R-RUN-4
async def test_there_are_partitions_a_week_ahead(upkeep):
    await upkeep.settle()
    assert await upkeep.days("firing") == list(range(-1, 8))
    assert await upkeep.days("attempt") == list(range(-1, 8))
    assert [event.made for event in upkeep.told if isinstance(event, PartitionsKept)] == [10]
    upkeep.told.clear()
    await upkeep.settle()
    assert upkeep.told == []


# R-RUN-4
async def test_days_past_the_retention_leave_and_the_others_stay(upkeep):
    await upkeep.open(9, 10, 11, 12, 40)
    for days in (9, 10, 11, 40):
        await upkeep.fires(days)
    await upkeep.settle()
    assert await upkeep.days("firing") == [-10, -9, *range(-1, 8)]
    assert await upkeep.days("attempt") == [-10, -9, *range(-1, 8)]
    assert upkeep.held_back() == []


@pytest.mark.parametrize("then", ["waiting", "running"])
async def test_a_day_whose_firing_has_not_ended_stays_and_holds_up_no_other(upkeep, then):
    await upkeep.open(20, 30, 40)
    await upkeep.fires(40, then=then)
    await upkeep.fires(30)
    await upkeep.settle()
    assert await upkeep.days("firing") == [-40, *range(-1, 8)]
    assert {event.reason for event in upkeep.held_back()} == {"a firing in it has not ended"}
    await upkeep.connection.execute("delete from detent.waiting; delete from detent.running")
    await upkeep.settle()
    assert await upkeep.days("firing") == list(range(-1, 8))


async def test_dead_letters_leave_with_their_day(upkeep):
    await upkeep.open(9, 40)
    await upkeep.fires(40, then="dead")
    kept = await upkeep.fires(9, then="dead")
    await upkeep.settle()
    assert [row[0] for row in await upkeep.connection.fetch("select scheduled_for from detent.dead")] == [
        kept
    ]


async def test_a_day_that_is_still_read_is_left_marked_and_finished_later(upkeep, connect, monkeypatch):
    monkeypatch.setattr(node_pruner, "_DETACH_TIMEOUT", "200ms")
    await upkeep.open(20, 30)
    reader = await connect()
    await reader.execute("set idle_in_transaction_session_timeout = 0")
    async with reader.transaction():
        await reader.fetch("select from detent.firing")
        await upkeep.pruner.tick()
        pending = await upkeep.connection.fetch(
            "select inhrelid::regclass::text from pg_inherits where inhdetachpending"
        )
        assert len(pending) == 1
        assert upkeep.held_back()
        assert -20 in await upkeep.days("firing"), "one after the other"
        assert await upkeep.days("attempt") == list(range(-1, 8)), "the attempts are another table"
    await upkeep.settle()
    assert await upkeep.days("firing") == list(range(-1, 8))


async def test_one_that_was_detached_and_not_dropped_is_dropped_by_the_next(upkeep):
    await upkeep.open(30)
    name = f"firing_{upkeep.at(30):%Y%m%d}"
    await upkeep.connection.execute(f"alter table detent.firing detach partition detent.{name}")
    await upkeep.settle()
    assert await upkeep.days("firing") == list(range(-1, 8))


async def test_two_pruners_do_each_other_no_harm(upkeep, settings):
    await upkeep.open(*range(11, 25))
    other = Pruner(upkeep.settings, Events())
    for _ in range(20):
        await asyncio.gather(upkeep.pruner.tick(), other.tick())
    assert await upkeep.days("firing") == list(range(-1, 8))
    await other.close()


async def test_fresh_partitions_are_analysed_once_they_have_rows(upkeep):
    await upkeep.fires(0)
    name = f"firing_{upkeep.today:%Y%m%d}"
    known = "select reltuples from pg_class where relname = $1"
    assert await upkeep.connection.fetchval(known, name) == -1
    await upkeep.settle()
    assert await upkeep.connection.fetchval(known, name) == 1
    empty = f"firing_{upkeep.at(-1):%Y%m%d}"
    assert await upkeep.connection.fetchval(known, empty) == -1, "there is nothing to know of it"


async def test_what_belongs_to_days_past_the_retention_leaves_in_parts(upkeep, monkeypatch):
    monkeypatch.setattr(node_pruner, "_ROWS_A_TICK", 10)
    old, young = upkeep.at(20), upkeep.at(5)
    rows = "from generate_series(1, 25) n"
    for at in (old, young):
        for sql in (
            f"insert into detent.stale_result (schedule_id, scheduled_for, number, volley, node, outcome, brought_at)"
            f" select n, $1, 1, 1, 1, 'failed', $1 {rows}",
            f"insert into detent.tally (minute, tenant_id, outcome, n) select $1, n, 'failed', 1 {rows}",
            f"insert into detent.omission (schedule_id, from_at, to_at, reason, revision, tenant_id, recorded_at)"
            f" select n, $1, $1::timestamptz + interval '1 h', 'misfire', 1, 1, $1 {rows}",
            f"insert into detent.revision (schedule_id, number, spec, valid_from, valid_to)"
            f" select n, extract(day from $1::timestamptz)::int, '{{}}', $1, $1 {rows}",
            f"insert into detent.progress (schedule_id, scheduled_for, volley, at) select n, $1, 1, $1 {rows}",
        ):
            await upkeep.connection.execute(sql, at)
    await upkeep.connection.execute(
        "insert into detent.revision (schedule_id, number, spec, valid_from) values (1, 99, '{}', $1)", old
    )
    assert await upkeep.pruner.tick(), "there is more to do at once"
    await upkeep.settle()
    for table, left in {
        "stale_result": 25,
        "tally": 25,
        "omission": 25,
        "revision": 26,
        "progress": 25,
    }.items():
        assert await upkeep.connection.fetchval(f"select count(*) from detent.{table}") == left, table
    assert (
        await upkeep.connection.fetchval("select count(*) from detent.revision where valid_to is null") == 1
    )


# R-SEE-1
async def test_counts_of_past_minutes_become_one_row_each(upkeep):
    minute = (now() - timedelta(minutes=8)).replace(second=0, microsecond=0)
    for n in range(1, 6):
        await upkeep.connection.execute(
            "insert into detent.tally (minute, tenant_id, outcome, n) values ($1, 1, 'succeeded', $2), ($1, 2, 'failed', 1)",
            minute,
            n,
        )
    await upkeep.pruner.tick()
    rows = await upkeep.connection.fetch("select tenant_id, outcome, n from detent.tally order by 1")
    assert [tuple(row) for row in rows] == [(1, "succeeded", 15), (2, "failed", 5)]


async def test_who_does_not_hold_shard_0_keeps_its_hands_and_its_connection_away(settings):
    mine = [True]
    pruner = Pruner(settings, Events(), mine=lambda: mine[0])
    await pruner.tick()
    connection = pruner._connection
    mine[0] = False
    assert not await pruner.tick()
    assert connection.is_closed()


async def test_planning_goes_on_while_a_day_leaves(upkeep, connect, monkeypatch):
    """A detach waits for readers of its day; who writes today doesn't wait for it."""
    monkeypatch.setattr(node_pruner, "_DETACH_TIMEOUT", "5s")
    await upkeep.open(30)
    reader, writer = await connect(), await connect()
    await reader.execute("set idle_in_transaction_session_timeout = 0")
    async with reader.transaction():
        await reader.fetch("select from detent.firing")
        busy = await upkeep.pruner._connected()
        going = asyncio.create_task(upkeep.pruner.tick())
        await until_blocked(upkeep.connection, busy)
        await upkeep.fires(0)
        await writer.execute("select detent.ensure_partitions(current_date + 1, current_date + 1)")
    await going
    assert await upkeep.days("firing") == list(range(-1, 8))
