"""A sink, and a target that may reach it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from detent import clock
from detent.domain.http.reach import parse_reach
from detent.domain.retry import Retry
from detent.domain.schedule import Overlap, Work
from detent.targets.context import Context
from detent.targets.http.client import Client
from detent.targets.http.keys import KeyCache, Keys
from detent.targets.http.resolver import Resolver
from detent.targets.http.target import HttpTarget
from tests.sink import open_sink

SLOT = datetime(2026, 3, 1, 2, tzinfo=UTC)
SECRET = b"0123456789abcdef0123456789abcdef"


@pytest.fixture
async def sink():
    async with open_sink() as opened:
        yield opened


def work(spec: Mapping[str, Any], payload: object = None, schedule: str = "nightly") -> Work:
    return Work(
        target={"http": spec}, payload={} if payload is None else payload, retry=Retry(), timeout=None,
        expected_duration=None, overlap=Overlap.SKIP, schedule=schedule,
    )  # fmt: skip


def context(**given: Any) -> Context:
    plain = {
        "tenant_id": 1, "schedule_id": 7, "scheduled_for": SLOT, "attempt": 1, "fencing_token": 41, "catch_up": False,
        "key_at": SLOT, "schedule": "nightly", "link": None,
    }  # fmt: skip
    return Context(**(plain | given))


class Caller:
    """Calls a target as a worker would. `allow` is the allow-list."""

    def __init__(
        self, allow: str = "127.0.0.1", nameservers: tuple[str, ...] = (), *, plain: bool = False
    ) -> None:
        self.keys = Keys((SECRET,))
        self.client = Client(parse_reach(allow, plain=plain), Resolver(nameservers))
        self.target = HttpTarget(self.client, KeyCache(self._fetch), clock.realtime)

    async def _fetch(self, _: int) -> Keys:
        return self.keys

    async def __call__(
        self, url: str, payload: object = None, *, firing: Context | None = None, **spec: Any
    ) -> Any:
        call = self.target.prepare(work({"url": url, "timeout": "5s"} | spec, payload))
        return await call.begin(firing or context())


@pytest.fixture
async def caller():
    """`caller(allow=…)` makes one; all are closed after the test."""
    made: list[Caller] = []

    def make(*arguments: Any, **named: Any) -> Caller:
        made.append(Caller(*arguments, **named))
        return made[-1]

    yield make
    for one in made:
        await one.target.close()


@pytest.fixture
def call(caller):
    return caller()
