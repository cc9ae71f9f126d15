"""How fast a backlog is worked off: no-op firings due now, from the first start to the last durable attempt."""

from __future__ import annotations

import asyncio
from typing import Final

from detent.bench.ceiling import append_only
from detent.bench.crew import BenchError, Role, crew, wait_until_done
from detent.bench.fleet import NOOP, load_schedules, load_waiting, settle_down
from detent.bench.place import open_days, place
from detent.settings import Settings
from detent.store.pool import connect_patiently

_PATIENCE_SECONDS: Final = 120.0


def drain(
    url: str | None, *, n: int = 50_000, processes: int = 1, concurrency: int = 200
) -> dict[str, object]:
    with place(url) as settings:
        ceiling = asyncio.run(append_only(settings, n))
        with crew(settings, [Role(concurrency=concurrency)] * processes) as members:
            asyncio.run(_load(settings, n))
            wait_until_done(members, n, _PATIENCE_SECONDS)
            last = max(member.last.value for member in members)
        first, recorded = asyncio.run(_recorded(settings))
    if recorded != n:
        raise BenchError(f"{recorded} attempts are on record for {n} firings")
    rate = n / (last - first)
    return {
        "bench": "drain", "firings": n, "processes": processes, "seconds": round(last - first, 3),
        "firings_per_s": round(rate), "ceiling_per_s": round(ceiling), "ceiling_ratio": round(rate / ceiling, 3),
    }  # fmt: skip


async def _load(settings: Settings, n: int) -> None:
    connection = await connect_patiently(settings)
    try:
        await open_days(connection)
        await load_schedules(connection, n, ["{}"], NOOP)
        await settle_down(connection)
        async with connection.transaction():
            await load_waiting(
                connection, n, await connection.fetchval("select date_trunc('second', detent.now())")
            )
    finally:
        await connection.close()


async def _recorded(settings: Settings) -> tuple[float, int]:
    """When the first began, and how many ended."""
    connection = await connect_patiently(settings)
    try:
        row = await connection.fetchrow(
            "select min(started_at), count(*) from detent.attempt where outcome = 'succeeded'"
        )
    finally:
        await connection.close()
    return row[0].timestamp(), row[1]
