"""One database for all seeds of a test process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import postgres as fixtures
from tests.sim.database import prepare
from tests.sim.server import Server


@pytest.fixture(scope="session")
def stage(postgres: fixtures.Server) -> Iterator[Server]:
    url = postgres.fresh()
    postgres.run(prepare(url))
    server = Server(url)
    yield server
    server.close()
    postgres.drop(url)
