"""The network between a node and PostgreSQL is cut: it steps down before it can be replaced, and comes back by itself."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
import pytest_asyncio

from detent import Context, clock
from detent.observe.events import LeaseLost, StoreBack, StoreLost
from detent.store.pool import LOST, StoreUnreachable, connect, deadline_seconds, open_pool
from tests.proxy import Proxy

TTL = 2.0
WAYS = pytest.mark.parametrize(
    "ways", [{}, {"down": False}, {"up": False}], ids=["both ways", "to the server", "from the server"]
)
EXPIRED = "(select count(*) from detent.node where lease_expires_at <= now()) = 1"


@pytest_asyncio.fixture
async def proxy(database):
    async with Proxy(database) as made:
        yield made


@pytest.fixture
def through(settings, proxy):
    """Settings whose way to the database can be cut."""
    return replace(settings, database_url=proxy.url, lease_ttl=TTL)


# R-PLAN-3 R-RUN-6
@WAYS
async def test_a_node_that_is_cut_off_steps_down_before_its_lease_can_be_taken(proxy, crew, through, ways):
    began: list[int] = []

    async def work(context: Context) -> None:
        began.append(context.attempt)

    await crew.does(work)
    worker = await crew.hire(database_url=through.database_url, lease_ttl=TTL)
    lease = crew.node_of(worker).lease
    old = lease.id
    await crew.fire("work")
    await crew.concluded(1)
    proxy.freeze(**ways)
    await crew.fire("work")
    await crew.until(EXPIRED)
    assert not lease.held, "it stopped by its own clock, for nobody could tell it"
    other = await crew.hire()
    await crew.concluded(2)
    assert len(began) == 2, "each began once"

    proxy.heal()
    await crew.until("(select count(*) from detent.node where lease_expires_at > now()) = 2")
    await crew.stop(other)
    assert lease.id != old
    await crew.fire("work", 3)
    await crew.until("not exists (select from detent.waiting) and not exists (select from detent.running)")
    for event in (LeaseLost, StoreLost, StoreBack):
        await crew.until_told(event)


async def test_a_firing_that_was_claimed_ahead_does_not_begin_once_the_lease_has_run_out(
    crew, proxy, through
):
    """It is in hand, and its instant comes while nobody can be asked."""
    began = []

    async def work() -> None:
        began.append(True)

    await crew.does(work)
    worker = await crew.hire(database_url=proxy.url, lease_ttl=TTL, claim_ahead=10.0)
    at = await crew.watcher.fetchval(
        "select to_char(now() + interval '4.5 s', 'YYYY-MM-DD\"T\"HH24:MI:SS.MSOF')"
    )
    await crew.create(name="later", target={"task": "work"}, trigger={"at": at + ":00"})
    await crew.until("(select count(*) from detent.running) = 1")
    proxy.freeze()
    await crew.until("now() > (select due_at from detent.firing) + interval '0.3 s'")
    assert not began
    assert not crew.node_of(worker).lease.held
    other = await crew.hire()
    await crew.concluded(1)
    assert began == [True]
    await crew.stop(other)
    proxy.heal()
    await crew.until("(select count(*) from detent.node where lease_expires_at > now()) = 1")


@WAYS
async def test_every_call_has_a_deadline(proxy, through, ways):
    pool = await open_pool(through, 2)
    async with pool.acquire() as connection:
        await connection.fetchval("select 1")
    proxy.freeze(**ways)
    began = clock.monotonic()
    with pytest.raises(LOST):
        async with pool.acquire() as connection:
            await connection.fetchval("select 1")
    assert clock.monotonic() - began < deadline_seconds(through) + 2.5
    assert deadline_seconds(through) < TTL
    began = clock.monotonic()
    with pytest.raises(StoreUnreachable, match="can't be reached"):
        await connect(through)
    assert clock.monotonic() - began < 6
    proxy.heal()
    async with asyncio.timeout(10), pool.acquire() as connection:
        assert await connection.fetchval("select 1") == 1
    pool.terminate()


# R-RUN-6
async def test_connections_that_are_reset_are_made_anew(proxy, crew, through):
    async def work() -> None:
        """Nothing."""

    await crew.does(work)
    await crew.hire(database_url=proxy.url, lease_ttl=TTL)
    for n in range(1, 4):
        await crew.fire("work")
        await crew.concluded(n)
        proxy.reset()
    await crew.fire("work")
    await crew.concluded(4)


async def test_time_outs_of_a_session_are_below_the_time_to_live(settings):
    for ttl, statement, lock, idle in (
        (10.0, "7s", "3s", "4s"),
        (60.0, "7s", "3s", "4s"),
        (2.0, "1400ms", "600ms", "800ms"),
    ):
        connection = await connect(replace(settings, lease_ttl=ttl))
        assert await connection.fetchval("show statement_timeout") == statement
        assert await connection.fetchval("show lock_timeout") == lock
        assert await connection.fetchval("show idle_in_transaction_session_timeout") == idle
        await connection.close()
