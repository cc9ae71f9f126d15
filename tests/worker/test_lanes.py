"""Lanes and caps through the real claimer: several workers, each with its own hand, over one queue."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import AsyncExitStack
from typing import Any

import pytest
import pytest_asyncio

from detent.clock import DatabaseClock
from detent.domain.need import NOTHING
from detent.node.lease import Lease
from detent.observe.events import Events
from detent.settings import Settings
from detent.store import concluding
from detent.store.concluding import Fact
from detent.store.pool import open_pool
from detent.targets.registry import Registry
from detent.worker.claimer import Claimer
from detent.worker.hand import Hand

NEVER_ENDS = 3600.0


class Rig:
    """A queue, and claimers that nothing but the test ticks."""

    def __init__(self, settings: Settings, pool: Any) -> None:
        self.settings = settings
        self.pool = pool
        self._last = 0

    async def fill(
        self, tenant: int, priority: int, firings: int, *, pool: str = "default", needs: int = NOTHING
    ) -> None:
        """So many firings due now, each of a schedule of its own."""
        first = self._last + 1
        self._last += firings
        async with self.pool.acquire() as connection:
            await connection.execute(
                """
                with ids as (select generate_series($1::bigint, $2) as id),
                s as (insert into detent.schedule (id, tenant_id, name, cadence, work) overriding system value
                      select id, $3, 's' || id, '{}', 'null' from ids),
                t as (insert into detent.timer (schedule_id, shard, active, revision, tenant_id, pool, priority)
                      select id, 0, false, 1, $3, $5, $4 from ids),
                f as (insert into detent.firing (schedule_id, scheduled_for, due_at, kind, revision, tenant_id)
                      select id, date_trunc('second', now()), now(), 'slot', 1, $3 from ids)
                insert into detent.waiting (schedule_id, scheduled_for, pool, lane, due_at, seats, needs)
                select id, date_trunc('second', now()), $5, $3 * 10 + $4, now() - interval '1 s' + id * interval '1 us', 1, $6
                from ids
                """,
                first, self._last, tenant, priority, pool, needs,
            )  # fmt: skip

    async def tenants(self, *tenants: tuple[int, int, int | None]) -> None:
        """Id, weight, cap."""
        async with self.pool.acquire() as connection:
            await connection.executemany(
                "insert into detent.tenant (id, name, weight, cap) values ($1, 't' || $1::bigint, $2, $3)"
                " on conflict (id) do update set weight = $2, cap = $3",
                tenants,
            )

    async def cap(self, pool: str, cap: int) -> None:
        async with self.pool.acquire() as connection:
            await connection.execute(
                "insert into detent.pool (name, cap) values ($1, $2) on conflict (name) do update set cap = $2",
                pool,
                cap,
            )

    async def crew(self, places: int, *pools: str) -> Crew:
        lease = Lease(self.settings, "worker", Events())
        async with self.pool.acquire() as connection:
            await lease.register(connection)
        return Crew(self, lease, Hand(places), pools or ("default",))

    async def running(self) -> Counter[tuple[str, int]]:
        """By pool and tenant."""
        async with self.pool.acquire() as connection:
            rows = await connection.fetch(
                "select pool, lane / 10, count(*) from detent.running group by 1, 2"
            )
        return Counter({(row[0], row[1]): row[2] for row in rows})

    async def waiting(self) -> int:
        async with self.pool.acquire() as connection:
            return await connection.fetchval("select count(*) from detent.waiting")


class Crew:
    """One claimer, and firings that end when the test says so."""

    def __init__(self, rig: Rig, lease: Lease, hand: Hand, pools: tuple[str, ...]) -> None:
        self.rig = rig
        self.hand = hand
        self.lease = lease
        self.claimer = Claimer(
            rig.pool, lease, rig.settings, pools=pools, hand=hand, registry=Registry({}), time=DatabaseClock(),
            deliver=lambda held: self.started.update(one.claimed[7] for one in held),
        )  # fmt: skip
        self.started: Counter[int] = Counter()

    async def claim(self) -> None:
        while await self.claimer.tick():
            pass

    async def end(self, held) -> None:
        """These have succeeded."""
        if held:
            facts = [
                Fact(h.claimed[0], h.claimed[2], h.claimed[4], 1, 0.0, 1.0, "succeeded", None, None, None, "conclude", None)
                for h in held
            ]  # fmt: skip
            async with self.rig.pool.acquire() as connection:
                assert await concluding.conclude(connection, self.lease.id, facts, []) == len(facts)
            self.hand.let_go(held, concluded=False)


@pytest_asyncio.fixture
async def rig(settings):
    settings = Settings(database_url=settings.database_url, lease_ttl=NEVER_ENDS)
    async with AsyncExitStack() as stack:
        pool = await open_pool(settings, 8)
        stack.callback(pool.terminate)
        yield Rig(settings, pool)


async def drained(rig: Rig, crews: list[Crew], seed: int, watch) -> None:
    """Everybody claims, at once, and ends some of what he holds, until nothing is left. `watch` looks after each step."""
    chance = random.Random(seed)
    for _ in range(500):
        await asyncio.gather(*(crew.claim() for crew in crews))
        watch(await rig.running())
        for crew in crews:
            held = list(crew.hand)
            await crew.end(chance.sample(held, chance.randint(min(1, len(held)), len(held))))
        if not await rig.waiting() and not await rig.running():
            return
    pytest.fail("it was not drained")


# R-EXEC-9, R-EXEC-8
@pytest.mark.parametrize("seed", range(3))
async def test_caps_of_tenants_and_pools_are_exact_over_all_workers(rig, seed):
    await rig.tenants((1, 1, None), (2, 1, 7), (3, 5, 1))
    await rig.cap("small", 4)
    for tenant in (1, 2, 3):
        for priority in (0, 4, 9):
            await rig.fill(tenant, priority, 20)
            await rig.fill(tenant, priority, 5, pool="small")
    crews = [
        await rig.crew(10, "default"),
        await rig.crew(10, "default", "small"),
        await rig.crew(5, "small"),
    ]
    most: Counter[object] = Counter()

    def watch(running):
        of_tenant, of_pool = Counter(), Counter()
        for (pool, tenant), n in running.items():
            of_tenant[tenant] += n
            of_pool[pool] += n
        assert of_tenant[2] <= 7
        assert of_tenant[3] <= 1
        assert of_pool["small"] <= 4
        for n, key in ((of_tenant[2], "tenant 2"), (of_tenant[3], "tenant 3"), (of_pool["small"], "small")):
            most[key] = max(most[key], n)

    await drained(rig, crews, seed, watch)
    assert most == {"tenant 2": 7, "tenant 3": 1, "small": 4}, "caps are limits, not obstacles"
    assert sum(sum(crew.started.values()) for crew in crews) == 225


async def test_what_rests_between_two_attempts_holds_its_seat_and_not_its_tenants_cap(rig):
    await rig.tenants((2, 1, 1))
    await rig.fill(2, 4, 2)
    crew = await rig.crew(10)
    await crew.claim()
    (first,) = crew.hand
    async with rig.pool.acquire() as connection:
        due = await connection.fetchval("select now() + interval '1 hour'")
        c = first.claimed
        fact = Fact(c[0], c[2], c[4], 1, 0.0, 1.0, "failed", None, None, None, "again", due)
        await concluding.conclude(connection, crew.lease.id, [fact], [])
    crew.hand.let_go([first], concluded=False)
    await crew.claim()
    assert [one.claimed[0] for one in crew.hand] == [2]


# R-EXEC-9
async def test_two_tenants_of_weight_one_and_three_are_served_one_to_three(rig):
    await rig.tenants((1, 1, None), (2, 3, None))
    for tenant in (1, 2):
        await rig.fill(tenant, 4, 1_200)
    for places in (1, 8, 50):
        crew = await rig.crew(places)
        while sum(crew.started.values()) < 400:
            await crew.claimer.tick()
            await crew.end(list(crew.hand))
        part = crew.started[24] / sum(crew.started.values())
        assert abs(part - 0.75) <= 0.1, (places, part)


# R-EXEC-9
async def test_the_more_urgent_lane_of_a_tenant_gets_more_of_its_cap(rig):
    await rig.tenants((2, 1, 5))
    await rig.fill(2, 0, 400)
    await rig.fill(2, 9, 400)
    crew = await rig.crew(50)
    while sum(crew.started.values()) < 300:
        await crew.claimer.tick()
        await crew.end(list(crew.hand))
    assert crew.started[29] > 5 * crew.started[20] > 0


async def test_of_a_thousand_lanes_none_waits_for_ever(rig):
    await rig.tenants(*((n, 1, None) for n in range(1, 1_001)))
    for tenant in range(1, 1_001, 10):
        await rig.fill(tenant, 4, 3)
    async with rig.pool.acquire() as connection:
        await connection.execute("update detent.waiting set lane = (schedule_id % 1000 + 1) * 10 + 4")
    crew = await rig.crew(40)
    for _ in range(40):
        await crew.claimer.tick()
        await crew.end(list(crew.hand))
    assert len(crew.started) == 300
    assert await rig.waiting() == 0


async def test_a_worker_takes_only_what_its_version_can_do(rig):
    await rig.fill(1, 4, 3, needs=2)
    await rig.fill(1, 4, 2)
    crew = await rig.crew(10)
    await crew.claim()
    assert sum(crew.started.values()) == 2
    assert await rig.waiting() == 3


# R-EXEC-8
async def test_a_worker_serves_its_pools_and_no_others_and_none_of_them_starves(rig):
    for pool in ("reports", "billing", "other"):
        await rig.fill(1, 4, 200, pool=pool)
    crew = await rig.crew(7, "reports", "billing")
    served = Counter()
    for _ in range(20):
        await crew.claimer.tick()
        for (pool, _), n in (await rig.running()).items():
            served[pool] += n
        await crew.end(list(crew.hand))
    assert served.keys() == {"reports", "billing"}
    assert min(served.values()) >= 0.3 * served.total()


async def test_a_pool_is_made_by_its_first_worker(rig):
    await (await rig.crew(1, "fresh")).claimer.tick()
    async with rig.pool.acquire() as connection:
        assert await connection.fetchval("select count(*) from detent.pool where name = 'fresh'") == 1
