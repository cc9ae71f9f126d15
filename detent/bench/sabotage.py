"""What a database suffers from others: a transaction that holds the horizon back, and readers that scan."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import asyncpg

from detent import clock
from detent.bench.crew import BenchError
from detent.bench.fleet import bench_statement
from detent.settings import Settings

_READERS: Final = 4
_PAUSE_SECONDS: Final = 0.5
"""Between two scans of a reader: it reads like a page that reloads, not like a load test of its own."""
_PATIENCE_SECONDS: Final = 30.0
_PROCESS: Final = multiprocessing.get_context("spawn")


@contextmanager
def sabotage(settings: Settings) -> Iterator[None]:
    """One held transaction and four readers, in a process of their own."""
    ready, stop = _PROCESS.Event(), _PROCESS.Event()
    process = _PROCESS.Process(target=_run, args=(settings.database_url, ready, stop), daemon=True)
    process.start()
    try:
        if not ready.wait(_PATIENCE_SECONDS):
            raise BenchError("nobody holds the horizon")
        yield
    finally:
        stop.set()
        process.join(_PATIENCE_SECONDS)
        process.kill()


def _run(url: str, ready: Any, stop: Any) -> None:
    asyncio.run(_disturb(url, ready, stop))


async def _disturb(url: str, ready: Any, stop: Any) -> None:
    holder = await asyncpg.connect(url)
    readers = [await asyncpg.connect(url) for _ in range(_READERS)]
    transaction = holder.transaction(isolation="repeatable_read")
    await transaction.start()
    await holder.execute(bench_statement("hold_horizon"))
    ready.set()
    await asyncio.gather(*(_scan(reader, stop) for reader in readers))
    await transaction.rollback()
    for connection in (holder, *readers):
        await connection.close()


async def _scan(reader: asyncpg.Connection, stop: Any) -> None:
    scan = bench_statement("scan")
    while not stop.is_set():
        await reader.fetch(scan)
        await clock.sleep(_PAUSE_SECONDS)
