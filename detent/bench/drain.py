"""How fast a backlog is worked off: no-op firings that are due now, from the first start to the last durable attempt."""

from __future__ import annotations

import asyncio

from detent import clock
from detent.bench.ceiling import append_only
from detent.bench.crew import Role, crew
from detent.bench.fleet import NOOP, load_schedules, load_waiting, settle_down
from detent.bench.place import place
from detent.settings import Settings
from detent.store.pool import connect_patiently


def drain(url: str | None, *, n: int = 50_000, processes: int = 1, concurrency: int = 200) -> dict[str, object]:
    with place(url) as settings:
        ceiling = asyncio.run(append_only(settings, n))
        with crew(settings, [Role(concurrency=concurrency)] * processes) as members:
            asyncio.run(_load(settings, n))
            while sum(member.done.value for member in members) < n:
                clock.pause(0.01)
            last = max(member.last.value for member in members)
            first, recorded = asyncio.run(_recorded(settings))
    rate = n / (last - first)
    return {
        "bench": "drain", "processes": processes, "firings": recorded, "seconds": round(last - first, 3),
        "firings_per_s": round(rate), "ceiling_per_s": round(ceiling), "ceiling_ratio": round(rate / ceiling, 3),
    }


async def _load(settings: Settings, n: int) -> None:
    connection = await connect_patiently(settings)
    await connection.execute("select detent.ensure_partitions(current_date - 1, current_date + 1)")
    await load_schedules(connection, n, "{}", NOOP)
    await settle_down(connection)
    async with connection.transaction():
        await load_waiting(connection, n, await connection.fetchval("select date_trunc('second', detent.now())"))
    await connection.close()


async def _recorded(settings: Settings) -> tuple[float, int]:
    connection = await connect_patiently(settings)
    row = await connection.fetchrow("select extract(epoch from min(started_at))::float8, count(*) from detent.attempt")
    await connection.close()
    return row[0], row[1]
