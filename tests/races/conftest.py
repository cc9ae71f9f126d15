"""The scene of a race, with the law of conservation as its judge."""

from __future__ import annotations

from datetime import timedelta

import pytest_asyncio

from detent.store import schedules
from tests.races.scene import Scene


@pytest_asyncio.fixture
async def scene(connect):
    stage = Scene(connect, await connect())
    await schedules.set_min_interval(stage.watcher, "default", timedelta(seconds=1))
    yield stage
    assert await stage.breaches() == []
