"""The scene of a race, with the law of conservation as its judge."""

from __future__ import annotations

import pytest_asyncio

from tests.races.scene import Scene


@pytest_asyncio.fixture
async def scene(connect):
    stage = Scene(connect, await connect())
    yield stage
    assert await stage.breaches() == []
