"""The world of a seed: tenants with caps and weights, schedules of every kind, and what people do to them meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

import asyncpg

from detent import clock
from detent.commands.bulk import create_many
from detent.commands.schedules import Actor, Commands, Conflict, NotFound
from detent.domain.errors import SpecError
from detent.settings import Settings
from detent.store.pool import LOST
from tests.sim.wire import Connection

POOLS = ("default", "billing")
TENANTS = {"default": (1, None), "acme": (3, 3), "globex": (1, None), "initech": (1, 2)}
"""Weight and cap."""
_LOSES_SEATS = ("skip", "queue", "collapse", "cancel_previous", "allow")


class World:
    """Draws specs. Names are few, so that commands meet."""

    def __init__(self, random: Random, schedules: int) -> None:
        self.random = random
        self.names = [
            (self._pick(list(TENANTS), [5, 2, 2, 1]), f"schedule-{number}") for number in range(schedules)
        ]

    def spec(self, name: str, now: datetime) -> dict[str, Any]:
        draw = self.random.random
        spec: dict[str, Any] = {
            "name": name,
            "triggers": [self._trigger(now) for _ in range(self._pick([1, 2], [4, 1]))],
            "target": {"task": self._pick(["quick", "slow", "fails", "hangs", "mixed"], [4, 3, 2, 1, 4])},
            "overlap": self._pick(list(_LOSES_SEATS), [3, 2, 2, 2, 3]),
            "pool": self._pick(list(POOLS), [3, 1]),
            "priority": self.random.randrange(10),
            "timeout": self._pick(["1s", "3s", "6s"], [1, 2, 1]),
            "retry": self._retry(),
        }
        if spec["overlap"] == "allow" and draw() < 0.6:
            spec["max_concurrent"] = self._pick([1, 2, 3], [1, 2, 1])
        if draw() < 0.6:
            policy = self._pick(["fire_latest", "fire_all", "skip"], [1, 2, 1])
            spec["misfire"] = {"policy": policy, "grace": self._pick(["2s", "8s", "1h"], [1, 1, 2])}
            if policy == "fire_all":
                spec["misfire"]["cap"] = self.random.randint(1, 6)
        if draw() < 0.15:
            spec["max_firings"] = self.random.randint(1, 8)
        if draw() < 0.25:
            spec["start_deadline"] = self._pick(["1s", "3s", "10s"], [1, 2, 1])
        if draw() < 0.2:
            spec[self._pick(["jitter", "window"], [1, 1])] = self._pick(["300ms", "700ms"], [1, 1])
        if draw() < 0.05:
            spec["paused"] = True
        return spec

    def _trigger(self, now: datetime) -> dict[str, Any]:
        kind = self._pick(["every", "cron", "at"], [4, 4, 1])
        trigger: dict[str, Any]
        if kind == "every":
            trigger = {"every": f"{self._pick([1, 2, 3, 5, 6], [1, 3, 3, 3, 3])}s"}
            if self.random.random() < 0.7:
                trigger["start_at"] = _iso(now.replace(microsecond=0))
        elif kind == "cron":
            trigger = {"cron": f"{self._seconds()} * * * * *"}
        else:
            trigger = {"at": f"in {self.random.randint(1, 30_000)}ms"}
        if kind != "at" and self.random.random() < 0.15:
            trigger["exclude"] = {"weekly": [self._minute(now)]}
        if kind != "at" and self.random.random() < 0.1:
            trigger["end_at"] = _iso(now + timedelta(seconds=self.random.randint(5, 30)))
        if kind == "cron" and "end_at" not in trigger and self.random.random() < 0.1:
            trigger["start_at"] = _iso(now + timedelta(seconds=self.random.randint(-20, 20)))
        return trigger

    def _seconds(self) -> str:
        if self.random.random() < 0.6:
            return f"*/{self._pick([1, 2, 3, 5, 7, 20], [1, 2, 3, 3, 2, 1])}"
        return ",".join(str(second) for second in sorted(self.random.sample(range(60), 7)))

    def _minute(self, now: datetime) -> Mapping[str, str]:
        """A minute near by is left out."""
        start = now + timedelta(minutes=self.random.randint(0, 1))
        return {"days": "*", "from": f"{start:%H:%M}", "to": f"{start + timedelta(minutes=1):%H:%M}"}

    def _retry(self) -> dict[str, Any]:
        match self.random.randrange(3):
            case 0:
                return {"max_attempts": 1}
            case 1:
                return {"delays": ["100ms", "1s"]}
            case _:
                return {"max_attempts": self.random.randint(2, 5), "base": "300ms", "cap": "2s"}

    def _pick(self, options: list[Any], weights: list[int]) -> Any:
        return self.random.choices(options, weights)[0]


def _iso(instant: datetime) -> str:
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Person:
    """Somebody with a connection and wishes. What was answered is remembered: it must be true ever after."""

    def __init__(self, world: World, settings: Settings, haste: float, report: Callable[[str], None]) -> None:
        self._world = world
        self._settings = settings
        self._haste = haste
        self._report = report
        self.stopped = False
        self._created: list[int] = []
        self._triggered: list[datetime] = []

    async def live(self, connect: Any, now: Any) -> None:
        connection: Connection | None = None
        while not self.stopped:
            await clock.sleep(self._world.random.expovariate(1 / self._haste))
            if self.stopped:
                break
            try:
                if connection is None or connection.is_closed():
                    connection = await connect()
                await self._wish(Commands(connection=connection, settings=self._settings), now())  # type: ignore[arg-type]
            except (Conflict, NotFound):
                continue
            except SpecError as error:
                if error.code not in ("conflict", "too_often", "out_of_range", "never_fires"):
                    self._report(f"{error.code}: {error}")
            except LOST:
                if connection is not None:
                    connection.terminate()
            except asyncpg.PostgresError as error:
                self._report(f"a command failed: {type(error).__name__}: {error}")

    async def say_farewell(self, connect: Any, now: Any, names: Sequence[tuple[str, str]]) -> None:
        """Each schedule fires once more, and never again."""
        connection: Connection = await connect()
        for tenant, name in names:
            spec = self._world.spec(name, now()) | {"triggers": [{"at": "in 1s"}]}
            for key in ("jitter", "window", "max_firings", "paused"):
                spec.pop(key, None)
            while True:
                try:
                    commands = Commands(connection=connection, settings=self._settings)  # type: ignore[arg-type]
                    await commands.edit(name, spec, Actor(by="sim", tenant=tenant))
                    break
                except LOST:
                    connection.terminate()
                    connection = await connect()

    def swear(self, ask: Callable[..., Sequence[Any]]) -> None:
        """What a command answered is still true."""
        kept = {row[0] for row in ask("select id from detent.schedule")}
        fired = {row[0] for row in ask("select scheduled_for from detent.firing where kind = 'manual'")}
        assert set(self._created) <= kept, "a schedule that was created is lost"
        assert set(self._triggered) <= fired, "a firing that was asked for is lost"

    async def _wish(self, commands: Commands, now: datetime) -> None:
        random = self._world.random
        tenant, name = random.choice(self._world.names)
        actor = Actor(by="sim", tenant=tenant)
        verb = random.choices(
            ["create", "edit", "pause", "pause_until", "resume", "delete", "trigger", "many", "declare"],
            [3, 4, 2, 2, 5, 1, 3, 1, 1],
        )[0]
        match verb:
            case "create":
                made = await commands.create(self._world.spec(name, now), actor)
                self._created.append(made)
            case "edit":
                await commands.edit(name, self._world.spec(name, now), actor)
            case "pause":
                await commands.pause(name, actor)
            case "pause_until":
                until = now + timedelta(seconds=random.uniform(0.1, 6))
                await commands.pause(name, actor, until=until)
            case "resume":
                await commands.resume(name, actor)
            case "delete":
                await commands.delete(name, actor)
            case "trigger":
                self._triggered.append(await commands.trigger(name, actor))
            case "many":
                names = [n for t, n in self._world.names if t == tenant][:5]
                specs = [self._world.spec(n, now) for n in names]
                await create_many(commands.connection, self._settings, specs, actor)
            case "declare":
                await commands.declare(self._world.spec(name, now), actor, origin="app")


async def furnish(connection: asyncpg.Connection) -> None:
    """Tenants and pools, before anybody begins."""
    for tenant, (weight, cap) in TENANTS.items():
        await connection.execute(
            "insert into detent.tenant (name, weight, cap, min_interval) values ($1, $2, $3, '1 s')"
            " on conflict (name) do update set min_interval = '1 s'",
            tenant, weight, cap,
        )  # fmt: skip
    await connection.execute("insert into detent.pool (name, cap) values ('billing', 3)")
