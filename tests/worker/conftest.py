"""A whole Detent for each test of workers."""

from __future__ import annotations

import pytest_asyncio

from tests.postgres import connect  # noqa: F401
from tests.worker.crew import Crew
from tests.works import open_works, works  # noqa: F401 fixtures


@pytest_asyncio.fixture
async def crew(settings):
    opened = await open_works(settings, Crew)
    try:
        yield opened
        assert await opened.judge() == []
    finally:
        await opened.close()
        judged = await opened.judge()
        opened.watcher.terminate()
    assert judged == [], "after all have left"
