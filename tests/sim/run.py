"""One seed: a world, a crew, weather, faults, and a judge.

First all goes wrong that the seed has in store. Then the faults end, except perhaps one node that never heals; people
stop wishing, and all that is due must be fired and concluded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from detent.commands.bulk import create_many
from detent.commands.schedules import Actor
from detent.settings import Settings
from tests.sim.crew import Crew, Post, connect, outside_replaced
from tests.sim.database import FRESH
from tests.sim.director import Director, Weather
from tests.sim.faults import Faults
from tests.sim.handlers import Handlers
from tests.sim.judge import Breach, Judge
from tests.sim.pace import DRAINING, HEALING, LEASE, SLICE, TROUBLE
from tests.sim.server import Server
from tests.sim.world import POOLS, TENANTS, Person, World, furnish

NOON = datetime(2026, 3, 8, 11, 58, 30, tzinfo=UTC)
_LAST_STEPS = 40


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a seed."""

    seed: int
    breach: str | None
    steps: int
    looks: int
    runs: int
    seconds: float
    """Of virtual time."""
    trace: list[str]

    def without_trace(self) -> Report:
        return replace(self, trace=[])

    def as_json(self) -> dict[str, Any]:
        return {
            "seed": self.seed, "breach": self.breach, "steps": self.steps, "looks": self.looks, "runs": self.runs,
            "virtual_seconds": round(self.seconds, 3),
        }  # fmt: skip

    def __str__(self) -> str:
        last = "\n".join(self.trace[-_LAST_STEPS:])
        return f"{self.breach}\n\nplay it again: make sim SEED={self.seed}\nits last steps:\n{last}"


class Play:
    """All that takes part in one seed."""

    def __init__(self, server: Server, seed: int) -> None:
        self.random = Random(f"sim {seed}")
        begin = NOON + timedelta(milliseconds=self.random.randrange(90_000))
        weather = Weather(latency=self.random.choice([0.0, 0.01, 0.02, 0.05, 0.1]))
        reported: list[str] = []
        self.server = server
        self.director = Director(self.server, self.random, weather, begin, reported.append)
        self.handlers = Handlers(Random(f"handlers {seed}"), lambda: self.director.now)
        self.judge = Judge(self.director, self.handlers, begin, reported)
        self.director.look = self.judge.look
        self.settings = Settings(
            database_url="sim", lease_ttl=LEASE, poll=self.random.choice([0.3, 0.7, 1.2]), listen=self.random.random() < 0.5,
            plan_every=self.random.choice([1.0, 2.0]), look_ahead=self.random.choice([3.0, 10.0, 30.0]),
        )  # fmt: skip
        pace = self.random.choice([1.0, 4.0, 6.0, 8.0])
        self.crew = Crew(self.director, self.settings, pace, self.handlers.tasks(), reported.append)
        self.world = World(Random(f"world {seed}"), self.random.randint(6, 24))
        haste = self.random.choice([0.5, 1.0, 4.0])
        self.people = [Person(self.world, self.settings, haste, reported.append) for _ in range(2)]
        self.faults = Faults(self.director, self.crew, self.random, weather)

    def begin(self) -> None:
        ask, watcher = self.server.ask, self.server.watcher
        ask(watcher.execute(FRESH))
        ask(furnish(watcher))
        self.server.set_watchers_clock(self.director.now)
        for tenant in TENANTS:
            specs = [self.world.spec(n, self.director.now) for t, n in self.world.names if t == tenant]
            ask(create_many(watcher, self.settings, specs, Actor(by="sim", tenant=tenant)))
        planners, workers = self.random.randint(1, 3), self.random.randint(1, 3)
        for number in range(planners):
            self.crew.add(Post(name=f"planner{number}.", kind="planner"))
        for number in range(workers):
            pools = POOLS if number == 0 else self.random.choice([POOLS, POOLS[:1], POOLS[::-1]])
            concurrency = self.random.choice([1, 3, 8])
            kind = self.random.choice(["worker", "worker", "all"])
            self.crew.add(Post(name=f"{kind}{number}.", kind=kind, pools=pools, concurrency=concurrency))
        for number, person in enumerate(self.people):
            process = self.director.process(f"person{number}")
            process.begin(person.live(connect, lambda: self.director.now))
            self.director.go(process)

    def trouble(self) -> None:
        self.faults.begin()
        self._run(TROUBLE)

    def heal(self) -> None:
        """Slots still come, as they did before."""
        for person in self.people:
            person.stopped = True
        self.handlers.kind = True
        spare = self.crew.spare()
        self.faults.end(self.random.choice(spare) if spare and self.random.random() < 0.5 else None)
        self._run(HEALING)

    def drain(self) -> None:
        """No more slots; what has been promised comes to its end."""
        director = self.director
        process = director.process("last person")
        farewell = process.begin(
            self.people[0].say_farewell(connect, lambda: director.now, self.judge.active())
        )
        director.go(process)
        until = self.director.elapsed + DRAINING
        while self.director.elapsed < until:
            self._run(SLICE / 2)
            if farewell.done() and not self.judge.left_over():
                break
        self.judge.last_words(self.people)

    def _run(self, seconds: float) -> None:
        until = self.director.elapsed + seconds
        while self.director.elapsed < until:
            self.director.run(min(until, self.director.elapsed + SLICE))
            self.judge.look_at_all()

    def close(self) -> None:
        for process in list(self.director.processes):
            process.kill()
        self.server.rest()


@contextmanager
def playing(server: Server, seed: int) -> Iterator[Play]:
    with outside_replaced(seed):
        play = Play(server, seed)
        try:
            yield play
        finally:
            play.close()


def simulate(server: Server, seed: int) -> Report:
    breach = None
    with playing(server, seed) as play:
        try:
            play.begin()
            play.trouble()
            play.heal()
            play.drain()
        except Breach as found:
            breach = str(found)
        return Report(
            seed, breach, play.director.steps, play.judge.looks, len(play.handlers.runs),
            play.director.elapsed, play.director.trace,
        )  # fmt: skip
