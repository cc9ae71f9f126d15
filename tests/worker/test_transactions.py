"""ctx.transaction(): a task's writes and the fact that it succeeded are one commit, or neither is written."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from datetime import timedelta

import asyncpg
import pytest
import pytest_asyncio

from detent import Context, DetentError, SyncContext
from detent.node.reaper import Reaper
from detent.observe.events import AttemptEnded, RaisedTooLate, ResultsStale
from detent.worker import transactions, watch
from tests.house import wait_until
from tests.proxy import Proxy

WRITE = "insert into effect (key) values ($1)"
WAITS = "exists (select from pg_locks where locktype = 'advisory' and not granted)"
COMMITTING = """
create function wait() returns trigger language plpgsql as
'begin perform pg_advisory_xact_lock_shared(7); return null; end';
create constraint trigger at_commit after insert on effect deferrable initially deferred
for each row execute function wait();
"""


@pytest_asyncio.fixture
async def effects(crew):
    """A table of the user's, and what is in it."""
    await crew.watcher.execute("create table public.effect (key text)")

    async def found() -> list[str]:
        return [row[0] for row in await crew.watcher.fetch("select key from effect order by key")]

    return found


async def write(ctx: Context) -> None:
    async with ctx.transaction() as connection:
        await connection.execute(WRITE, ctx.idempotency_key)


# R-TARGET-6
async def test_what_a_task_writes_and_its_attempt_are_one_commit(crew, effects):
    await crew.does(write)
    await crew.hire()
    await crew.fire("write")
    await crew.concluded(1)
    assert len(await effects()) == 1
    assert await crew.ends("write") == [(1, "succeeded", True)]
    one_commit = await crew.watcher.fetchval(
        "select e.xmin = a.xmin from effect e, detent.attempt a where a.outcome = 'succeeded'"
    )
    assert one_commit
    (told,) = crew.told_of(AttemptEnded)
    assert (told.outcome, told.then) == ("succeeded", "conclude")
    assert await crew.watcher.fetchval("select n from detent.tally where outcome = 'succeeded'") == 1
    attempt = (await crew.attempts("write"))[0]
    assert timedelta() <= attempt["finished_at"] - attempt["started_at"] < timedelta(seconds=5)


# R-TARGET-6
async def test_a_function_in_a_thread_writes_in_the_same_way(crew, effects):
    def write(ctx: SyncContext) -> None:
        with ctx.transaction() as connection:
            connection.execute(WRITE, "a")
            connection.executemany(WRITE, [("b",), ("c",)])
            assert connection.fetchval("select count(*) from effect") == 3
            assert [row["key"] for row in connection.fetch("select key from effect")] == ["a", "b", "c"]
            assert connection.fetchrow("select 1 as one")["one"] == 1

    def fails(ctx: SyncContext) -> None:
        with ctx.transaction() as connection:
            connection.execute(WRITE, "never")
            raise ValueError("no luck")

    await crew.does(write)
    await crew.does(fails, retry={"max_attempts": 1})
    await crew.hire()
    await crew.fire("write")
    await crew.fire("fails")
    await crew.until_concluded(2)
    assert await effects() == ["a", "b", "c"]
    assert await crew.ends("write") == [(1, "succeeded", True)]
    assert await crew.ends("fails") == [(1, "failed", False)]
    assert "no luck" in await crew.last("error", "fails")


async def test_a_queued_firing_gets_the_seat(crew, effects):
    go_on = asyncio.Event()

    async def slow(ctx: Context) -> None:
        async with ctx.transaction() as connection:
            await go_on.wait()
            await connection.execute(WRITE, ctx.idempotency_key)

    await crew.does(slow, overlap="queue")
    await crew.hire()
    await crew.fire("slow", 3)
    await crew.until("(select count(*) from detent.waiting where held = 'queued') = 2")
    go_on.set()
    await crew.concluded(3)
    assert len(await effects()) == 3


@pytest.mark.parametrize("last_words", ["ValueError", "sql", "swallowed"])
async def test_a_failed_transaction_writes_nothing_and_is_tried_again(crew, effects, last_words):
    async def fails_once(ctx: Context) -> None:
        async with ctx.transaction() as connection:
            await connection.execute(WRITE, f"{ctx.attempt}")
            if ctx.attempt == 1:
                if last_words == "ValueError":
                    raise ValueError("no luck")
                try:
                    await connection.execute("select 1 / 0")
                except asyncpg.DivisionByZeroError:
                    if last_words == "sql":
                        raise

    await crew.does(fails_once, retry={"max_attempts": 2, "delays": ["1ms"]})
    await crew.hire()
    await crew.fire("fails_once")
    await crew.concluded(1)
    assert await effects() == ["2"]
    assert await crew.ends("fails_once") == [(1, "failed", False), (2, "succeeded", True)]


async def test_who_was_taken_away_writes_nothing(crew, effects):
    """A zombie: its node was buried while its transaction was open, and the firing has run elsewhere."""
    go_on, errors = asyncio.Event(), []

    async def zombie(ctx: Context) -> None:
        try:
            async with ctx.transaction() as connection:
                await connection.execute(WRITE, f"attempt {ctx.attempt}")
                if ctx.attempt == 1:
                    await go_on.wait()
        except DetentError as error:
            errors.append(error)
            raise

    await crew.does(zombie, retry={"max_attempts": 2})
    worker = await crew.hire(lease_ttl=3600.0)
    await crew.fire("zombie")
    await crew.until("(select count(*) from pg_stat_activity where state = 'idle in transaction') >= 1")
    await crew.watcher.execute("update detent.node set lease_expires_at = now() - interval '1 s'")
    await Reaper(crew.node_of(worker).pool, crew.events).tick()
    await crew.hire()
    await crew.concluded(1)
    go_on.set()
    await crew.until("(select count(*) from detent.stale_result) = 1")
    assert await effects() == ["attempt 2"]
    assert await crew.ends("zombie") == [(1, "lost", False), (2, "succeeded", True)]
    assert [error.code for error in errors] == ["taken_away"]
    assert len(crew.told_of(ResultsStale)) == 1


# R-EXEC-7
async def test_a_time_out_in_the_block_rolls_back(crew, effects):
    async def slow(ctx: Context) -> None:
        async with ctx.transaction() as connection:
            await connection.execute(WRITE, "never")
            await connection.execute("select pg_sleep(30)")

    await crew.does(slow, timeout="200ms", retry={"max_attempts": 1})
    await crew.hire()
    await crew.fire("slow")
    await crew.until_concluded(1)
    assert await effects() == []
    assert await crew.ends("slow") == [(1, "timed_out", False)]


async def test_a_cancellation_that_comes_during_the_commit_comes_too_late(crew, effects):
    await crew.watcher.execute(COMMITTING)
    await crew.watcher.execute("select pg_advisory_lock(7)")
    await crew.does(write, timeout="300ms", retry={"max_attempts": 5})
    await crew.hire()
    await crew.fire("write")
    await crew.until(WAITS)
    await crew.until("now() > (select min(started_at) from detent.running) + interval '0.5 s'")
    await crew.watcher.execute("select pg_advisory_unlock(7)")
    await crew.concluded(1)
    assert await crew.ends("write") == [(1, "succeeded", True)]
    assert len(await effects()) == 1


async def test_what_comes_after_it_changes_nothing_and_is_told(crew, effects):
    async def chatty(ctx: Context) -> None:
        await write(ctx)
        async with ctx.transaction():
            """There is no second one."""

    await crew.does(chatty, retry={"max_attempts": 5})
    await crew.hire()
    await crew.fire("chatty")
    await crew.concluded(1)
    await crew.fire("chatty")
    await crew.concluded(2)
    assert await crew.ends("chatty") == [(1, "succeeded", True)] * 2
    assert len(await effects()) == 2
    told = crew.told_of(RaisedTooLate)
    assert "its transaction is its last word" in told[0].error


async def test_code_that_does_not_end_after_it_is_left_alone(crew, effects, monkeypatch):
    monkeypatch.setattr(watch, "_TELL_AGAIN_SECONDS", 0.05)
    monkeypatch.setattr(watch, "_GIVE_UP_SECONDS", 0.2)
    go_on = threading.Event()

    def deaf(ctx: SyncContext) -> None:
        with ctx.transaction() as connection:
            connection.execute(WRITE, "once")
        go_on.wait(20)

    await crew.does(deaf, timeout="100ms")
    worker = await crew.hire()
    await crew.fire("deaf")
    await crew.concluded(1)
    await crew.until("now() > (select finished_at from detent.attempt) + interval '1 s'")
    go_on.set()
    assert not worker.executor.running
    assert await crew.ends("deaf") == [(1, "succeeded", True)]
    assert not crew.told_of(ResultsStale)


async def test_what_a_task_leaves_in_its_session_is_not_seen_by_the_next(crew, effects):
    seen = []

    async def leaves(ctx: Context) -> None:
        async with ctx.transaction() as connection:
            seen.append(await connection.fetchval("show search_path"))
            await connection.execute("set search_path = 'nowhere'")

    await crew.does(leaves, overlap="queue")
    await crew.hire(concurrency=1)
    await crew.fire("leaves", 3)
    await crew.concluded(3)
    assert seen == ['"$user", public'] * 3


async def test_no_more_than_so_many_are_open_at_once(crew, effects, monkeypatch):
    monkeypatch.setattr(transactions, "_MOST", 2)
    await crew.does(write, overlap="allow")
    await crew.hire(concurrency=10)
    await crew.fire("write", 30)
    await crew.concluded(30)
    assert len(set(await effects())) == 30
    opened = await crew.watcher.fetchval(
        "select count(*) from pg_stat_activity where application_name = 'detent-task'"
    )
    assert opened <= 2


@pytest_asyncio.fixture
async def proxy(database):
    async with Proxy(database) as made:
        yield made


# R-TARGET-6
@pytest.mark.parametrize("commits", [True, False])
async def test_the_answer_to_a_commit_is_lost(proxy, crew, effects, commits):
    """It was on its way to the server when the connection was cut; only there it shows what became of it."""
    await crew.watcher.execute(COMMITTING)
    await crew.watcher.execute("select pg_advisory_lock(7)")
    answers = []

    async def write(ctx: Context) -> None:
        async with ctx.transaction() as connection:
            await connection.execute(WRITE, f"{ctx.attempt}")
        answers.append("committed")

    await crew.does(write, retry={"max_attempts": 2, "delays": ["1ms"]})
    await crew.hire(database_url=proxy.url)
    await crew.fire("write")
    backend = await crew.until(
        f"(select max(pid) from pg_locks where locktype = 'advisory' and not granted and {WAITS})"
    )
    proxy.reset()
    if not commits:
        await crew.watcher.execute("select pg_terminate_backend($1)", backend)
        await crew.until("not exists (select from pg_stat_activity where pid = $1)", backend)
    await crew.watcher.execute("select pg_advisory_unlock(7)")
    await crew.concluded(1)
    attempts = await crew.ends("write")
    assert attempts[-1][1:] == ("succeeded", True)
    assert await effects() == [f"{attempts[-1][0]}"]
    assert len(attempts) == (1 if commits else 2)
    if commits:

        async def is_told() -> bool:
            await asyncio.sleep(0)
            return answers == ["committed"]

        await wait_until(is_told)
        assert not await crew.watcher.fetchval("select count(*) from detent.stale_result")


async def test_a_commit_that_nobody_can_tell_of_is_found_by_the_finaliser(proxy, crew, effects, monkeypatch):
    monkeypatch.setattr(transactions, "_IN_DOUBT_SECONDS", 0.0)
    await crew.watcher.execute(COMMITTING)
    await crew.watcher.execute("select pg_advisory_lock(7)")
    await crew.does(write, retry={"max_attempts": 5, "delays": ["1ms"]})
    worker = await crew.hire(database_url=proxy.url)
    await crew.fire("write")
    await crew.until(WAITS)
    proxy.freeze()
    proxy.reset()
    await crew.until(
        "(select count(*) from pg_stat_activity where application_name = 'detent-task') = 1 and "
        "now() > (select started_at from detent.running) + interval '1 s'"
    )
    await crew.watcher.execute("select pg_advisory_unlock(7)")
    proxy.heal()
    await crew.concluded(1)
    await crew.until("(select count(*) from detent.running) = 0")
    assert await crew.ends("write") == [(1, "succeeded", True)]
    assert len(await effects()) == 1
    assert worker.finaliser.pending <= 1


async def test_behind_a_pooler_the_time_outs_are_those_of_the_role(crew, effects, settings):
    await crew.does(write)
    await crew.hire(**{f: getattr(replace(settings, pooler=True), f) for f in ("pooler",)})
    await crew.fire("write")
    await crew.concluded(1)
    assert len(await effects()) == 1
