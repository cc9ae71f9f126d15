"""Circles of waiting: who could wait for whom, and that nobody does in turn.

The order is shard, timer, schedule, running, waiting. Those who come from the other side pass over what is held (claims,
policies, ends of waiting, wake-ups, burials) or have their rows to themselves. The pairs that met in circles once are
played in the files of their moves; here is the one circle that no order rules out, and everybody at once.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress

import asyncpg
import pytest

from detent.commands.firings import Firings
from detent.commands.schedules import Conflict, NotFound
from detent.domain.identity import firing_id
from detent.node.reaper import Reaper
from detent.observe.events import Events
from detent.store import claiming, concluding, nodes, planning
from tests.house import House
from tests.races.people import ADA, SETTINGS, spec
from tests.races.scene import (
    MINUTE,
    Only,
    again,
    claim,
    conclude,
    defer,
    end_waiting,
    fact,
    hand_back,
    overlap,
    succeed,
)
from tests.races.witness import TOKENS_THAT_SHRANK, call_witnesses


# R-EXEC-1
async def test_the_one_circle_that_no_order_rules_out_is_broken_and_loses_nothing(scene):
    """A claim is kept waiting so long that a seat it thought free is taken, run on and freed again meanwhile; what frees
    it also brings a retry back to a schedule that is being paused; and the pause waits for the claim."""
    rival, claimer, worker, node = *[await scene.connect() for _ in range(3)], await scene.node()
    ada = await scene.person()
    for session in (claimer, worker, ada.session):
        await session.execute("set deadlock_timeout = '50ms'")
    first, paused, freed = [
        await scene.schedule(),
        await scene.schedule(overlap="allow", seats=2),
        await scene.schedule(),
    ]
    retried = await scene.runs(paused, node, ago=60)
    await scene.waits(first, ago=9)
    transaction = rival.transaction()
    await transaction.start()
    await claim(rival, node)
    for schedule in (first, paused, freed):
        await scene.waits(schedule, ago=5)
    claims = await scene.meets(claimer, claim(claimer, node), by=rival)
    await scene.waits(freed, ago=7)
    (running,) = await claim(worker, node)
    assert running.schedule_id == freed.id
    pause = await scene.meets(ada.session, ada.pause("s2"), by=claimer)
    facts = [
        fact(running, outcome="cancelled"),
        fact(retried, outcome="failed", verdict="again", due_at=retried.read_at),
    ]
    concludes = await scene.meets(worker, concluding.conclude(worker, node, facts, []), by=ada.session)
    await transaction.rollback()
    ended = await asyncio.gather(claims, pause, concludes, return_exceptions=True)
    victims = [one for one in ended if isinstance(one, BaseException)]
    assert [type(one) for one in victims] == [asyncpg.DeadlockDetectedError]
    for mine, once_more in zip(
        ended,
        (
            lambda: claim(claimer, node),
            lambda: ada.pause("s2"),
            lambda: concluding.conclude(worker, node, facts, []),
        ),
        strict=True,
    ):
        if mine in victims:
            await once_more()
    assert await scene.breaches() == []
    assert await scene.outcomes(freed) == [(1, "cancelled")]
    assert (1, "failed") in await scene.outcomes(paused)
    assert (await scene.places(paused)).get("waiting") is None, "what waits of it is withheld"


POLICIES = (
    {"overlap": "skip"},
    {"overlap": "queue"},
    {"overlap": "collapse"},
    {"overlap": "cancel_previous"},
    {"overlap": "allow"},
    {"overlap": "allow", "max_concurrent": 2},
)
POOLS = ("default", "reports")


class Town:
    """Everybody at once, each in a session of his own, doing what he does in an order drawn from a seed."""

    def __init__(self, scene, seed):
        self.scene, self.random, self.open = scene, random.Random(seed), True

    async def people(self):
        person = await self.scene.person()
        while self.open:
            name = self.random.choice("abcdef")
            with suppress(Conflict, NotFound):
                match self.random.randrange(20):
                    case 0:
                        await person.pause(name)
                    case 1 | 2:
                        await person.resume(name)
                    case 3:
                        await person.delete(name)
                    case 4 | 5:
                        await person.create(self.some(name))
                    case 6 | 7 | 8:
                        await person.edit(self.some(name))
                    case 9 | 10:
                        await self.wish(person)
                    case _:
                        await person.trigger(name)

    async def wish(self, person):
        """Something for a single firing, wherever it is."""
        firings = Firings(connection=person.session)
        row = await person.session.fetchrow(
            "select schedule_id, scheduled_for from detent.firing order by random() limit 1"
        )
        dead = await firings.dead(ADA, limit=3)
        match self.random.randrange(3):
            case 0 if dead:
                await firings.discard([firing_id(*letter[:2]) for letter in dead], ADA)
            case 1 if row:
                await firings.rerun(firing_id(*row), ADA)
            case _ if row:
                await firings.cancel(firing_id(*row), ADA)

    def some(self, name):
        policy = self.random.choice(POLICIES)
        deadline = {"start_deadline": "1s"} if self.random.random() < 0.3 else {}
        pool, every = self.random.choice(POOLS), self.random.choice(("1s", "3s", "10s"))
        return spec(name, every=every, pool=pool, priority=self.random.choice((4, 9)), **policy, **deadline)

    async def planner(self):
        mine = await self.scene.planner()
        while self.open:
            await mine.take(self.random.sample(range(256), 128))
            await mine.plan()
            if self.random.random() < 0.3:
                await nodes.give_shards(mine.session, mine.node, list(mine.epochs))

    async def worker(self):
        session = await self.scene.connect()
        node = await self.scene.node(by=session)
        running = []
        while self.open:
            running += await self.claims(session, node)
            self.random.shuffle(running)
            while len(running) > self.random.randrange(30):
                one = running.pop()
                match self.random.randrange(8):
                    case 0:
                        await again(session, node, one)
                    case 1:
                        await hand_back(session, one)
                    case 2:
                        await defer(session, one)
                    case 3:
                        await conclude(session, node, one, verdict="die")
                    case 4 | 5:
                        await conclude(session, node, one)
                    case _:
                        await succeed(session, one)
            if (
                self.random.random() < 0.03
            ):  # its lease is over, but it brings what it has in hand all the same
                await self.scene.expire(node, by=session)
                node = await self.scene.node(by=session)

    async def claims(self, session, node):
        pool, lane = self.random.choice(POOLS), self.random.choice((14, 19))
        return await claim(
            session, node, pool=pool, lane=lane, quota=self.random.randrange(1, 20), ahead=MINUTE
        )

    async def house(self):
        session = await self.scene.connect()
        reaper = Reaper(Only(session), Events(lambda _: None))
        while self.open:
            match self.random.randrange(8):
                case 0:
                    await end_waiting(session)
                case 1:
                    await claiming.wake_forgotten(session, 100)
                case 2:
                    await reaper.tick()
                case _:
                    await overlap(session)

    async def watch(self, looks):
        for _ in range(looks):
            assert await self.scene.breaches() == []
        self.open = False


# R-EXEC-1, R-PLAN-5
@pytest.mark.parametrize("seed", range(3))
async def test_everybody_at_once_meets_in_no_circle_and_loses_nothing(scene, seed):
    await call_witnesses(scene.watcher)
    town = Town(scene, seed)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        for part in (town.people, town.planner, town.worker, town.house):
            for _ in range(2):
                group.create_task(part())
        group.create_task(town.watch(150))
    assert await scene.deadlocks() == 0
    await settle_all(scene)
    assert await scene.watcher.fetch(TOKENS_THAT_SHRANK) == []
    house = House(Only(scene.watcher), SETTINGS)
    house.turn(await planning.now(scene.watcher))
    assert await house.judge() == [], "each slot is a firing or an omission"


async def settle_all(scene):
    """Everybody is gone: what ran is settled, what waits is withdrawn, and each firing has come to one end."""
    ada, session = await scene.person(), await scene.connect()
    await session.execute("update detent.node set lease_expires_at = '2000-01-01Z'")
    reaper = Reaper(Only(session), Events(lambda _: None))
    while await reaper.tick():
        pass
    for name in "abcdef":
        with suppress(NotFound):
            await ada.delete(name)
    await session.execute("update detent.waiting set due_at = detent.now()")
    while await end_waiting(session):
        pass
    counts = await session.fetchrow(
        "select (select count(*) from detent.node), (select count(*) from detent.running),"
        " (select count(*) from detent.waiting)"
    )
    assert tuple(counts) == (0, 0, 0)
