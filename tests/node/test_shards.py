"""Shards over nodes that come and go: an even part each, at once when somebody leaves, after its lease when it dies."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from detent.node.lease import Lease
from detent.node.shards import SHARDS, Shards
from detent.observe.events import ShardsChanged
from detent.settings import Settings
from detent.store import nodes

TTL = 10.0


class Crowd:
    """Planners that tick when they are told to."""

    def __init__(self, house):
        self.house = house
        self.settings = Settings(database_url=house.settings.database_url, lease_ttl=TTL)
        self.alive: list[Shards] = []

    async def join(self) -> Shards:
        lease = Lease(self.settings, "planner", self.house.events)
        async with self.house.pool.acquire() as connection:
            await lease.register(connection)
        shards = Shards(self.house.pool, lease, self.house.events)
        self.alive.append(shards)
        return shards

    async def leave(self, shards: Shards) -> None:
        """In peace."""
        self.alive.remove(shards)
        async with self.house.pool.acquire() as connection:
            await nodes.leave(connection, shards._lease.id)

    async def die(self, shards: Shards) -> None:
        """Without a word: the lease runs out."""
        self.alive.remove(shards)
        async with self.house.pool.acquire() as connection:
            await connection.execute(
                "update detent.node set lease_expires_at = detent.now() - interval '1 s' where id = $1",
                shards._lease.id,
            )

    async def round(self, chance: random.Random | None = None) -> int:
        """Everybody ticks, in some order. How many shards changed hands."""
        before = len(self.house.told_of(ShardsChanged))
        for shards in sorted(self.alive, key=lambda _: chance.random() if chance else 0):
            await shards.tick()
        return len(self.house.told_of(ShardsChanged)) - before

    async def judge(self) -> None:
        """Each shard has one holder, who knows it, and nobody has more than his part."""
        fair = -(-SHARDS // len(self.alive))
        held = [shard for shards in self.alive for shard in shards.held]
        assert sorted(held) == list(range(SHARDS))
        assert max(len(shards.held) for shards in self.alive) <= fair
        rows = await self.house.fetch("select id, holder, epoch from detent.shard")
        holders = {row["id"]: (row["holder"], row["epoch"]) for row in rows}
        for shards in self.alive:
            for shard, epoch in shards.held.items():
                assert holders[shard] == (shards._lease.id, epoch)


@pytest.fixture
async def crowd(house):
    made = Crowd(house)
    async with house.pool.acquire() as connection:
        await nodes.leave(connection, house.lease.id)
    return made


# R-PLAN-2
@pytest.mark.parametrize("n", [1, 2, 3, 5])
async def test_each_of_n_planners_comes_to_hold_its_part_and_then_nothing_moves(crowd, n):
    for _ in range(n):
        await crowd.join()
    for _ in range(4):
        await crowd.round()
    await crowd.judge()
    for _ in range(10):
        assert await crowd.round() == 0, "no flapping"


# R-PLAN-2, R-PLAN-11
@pytest.mark.parametrize("seed", range(4))
async def test_however_they_come_and_go_they_settle_within_a_few_ticks(crowd, seed):
    chance = random.Random(seed)
    await crowd.join()
    for _ in range(12):
        what = chance.choice(["join", "join", "leave", "die"])
        if what == "join" and len(crowd.alive) < 6:
            await crowd.join()
        elif len(crowd.alive) > 1:
            await getattr(crowd, "leave" if what == "leave" else "die")(chance.choice(crowd.alive))
        if chance.random() < 0.5:
            await crowd.round(chance)
    for _ in range(4):
        await crowd.round(chance)
    await crowd.judge()
    assert await crowd.round(chance) == 0


# R-PLAN-11
async def test_who_leaves_in_peace_hands_over_at_once(crowd):
    first, second = await crowd.join(), await crowd.join()
    for _ in range(3):
        await crowd.round()
    await crowd.leave(first)
    await second.tick()
    assert len(second.held) == SHARDS


# R-PLAN-11
async def test_who_dies_is_taken_over_when_the_lease_has_run_out_and_not_before(crowd, house):
    first = await crowd.join()
    await first.tick()
    second = await crowd.join()
    crowd.alive.remove(first)  # it never ticks again
    house.turn(timedelta(seconds=TTL - 0.001))
    await crowd.house.execute(
        "update detent.node set lease_expires_at = detent.now() + interval '10 s' where id = $1",
        second._lease.id,
    )
    await second.tick()
    assert second.held == {}, "it may still be alive"
    house.turn(timedelta(seconds=0.002))
    await second.tick()
    assert len(second.held) == SHARDS
    assert min(second.held.values()) > max(first.held.values()), "under higher epochs"


# R-PLAN-3
async def test_who_finds_its_lease_run_out_holds_nothing(crowd):
    planner = await crowd.join()
    await planner.tick()
    deadline, planner._lease.deadline = planner._lease.deadline, 0.0
    await planner.tick()
    assert planner.held == {}
    planner._lease.deadline = deadline
    await planner.tick()
    assert len(planner.held) == SHARDS


async def test_who_comes_back_under_a_new_id_begins_anew(crowd, house):
    planner = await crowd.join()
    await planner.tick()
    old = planner._lease.id
    async with house.pool.acquire() as connection:
        await planner._lease.register(connection)
    await planner.tick()
    assert planner.held == {}, "its former self may still be alive"
    async with house.pool.acquire() as connection:
        await nodes.leave(connection, old)
    await planner.tick()
    assert len(planner.held) == SHARDS


async def test_shards_that_change_hands_touch_no_schedule(crowd, house):
    for n in range(20):
        await house.create(name=f"s{n}", trigger={"cron": "0 * * * *"})
    before = await house.fetch("select xmin, * from detent.timer order by schedule_id")
    for _ in range(3):
        await crowd.join()
        await crowd.round()
        await crowd.round()
    assert await house.fetch("select xmin, * from detent.timer order by schedule_id") == before


async def test_more_planners_than_shards_harm_nobody(crowd):
    for _ in range(260):
        await crowd.join()
    for _ in range(2):
        await crowd.round()
    await crowd.judge()
    assert sum(not shards.held for shards in crowd.alive) == 4
