"""A rig for each test, on a server of its own for the module: it is killed, too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from detent.store import migrate
from detent.store.embedded import EmbeddedPostgres
from detent.store.temporary import temporary_postgres
from tests.e2e.rig import Rig

# What is killed here are processes, not the machine: commits must be written, but need not reach the disk.
_SETTINGS = {"fsync": "off", "full_page_writes": "off", "shared_buffers": "64MB"}


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedPostgres]:
    with temporary_postgres(_SETTINGS) as started:
        yield started


@pytest_asyncio.fixture
async def rig(server: EmbeddedPostgres, tmp_path: Path):
    name = f"e2e_{tmp_path.name.lower()[:40]}"
    admin = await asyncpg.connect(server.url)
    await admin.execute(f'create database "{name}"')
    await admin.close()
    url = server.url.replace("/postgres?", f"/{name}?")
    connection = await asyncpg.connect(url)
    await migrate.migrate(connection)
    await connection.execute("select detent.ensure_partitions(current_date - 1, current_date + 1)")
    await connection.close()
    (tmp_path / "witness").mkdir()
    made = Rig(server, url, tmp_path / "witness")
    try:
        yield made
    finally:
        made.close()
