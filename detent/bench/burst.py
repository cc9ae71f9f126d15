"""How fast a crowd begins: all firings at one instant, planned ahead as any."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Final

from detent.bench.crew import BenchError, Role, crew, wait_until_done
from detent.bench.figures import in_seconds
from detent.bench.fleet import register_one_offs, settle_down
from detent.bench.place import open_days, place
from detent.settings import Settings
from detent.store import planning
from detent.store.pool import connect_patiently

_PER_SECOND: Final = 5_000
"""At which all are surely registered before their instant."""


def burst(url: str | None, *, n: int = 20_000, processes: int = 1) -> dict[str, object]:
    roles = [Role(), *([Role()] * (processes - 1)), Role(worker=False, planner=True)]
    with place(url) as settings, crew(settings, roles) as members:
        asyncio.run(_load(settings, n))
        wait_until_done(members, n, 30.0 + n / _PER_SECOND * 3)
        stamps = [stamp for member in members for stamp in member.finish().stamps]
    lags = [began - due for due, began in stamps]
    if len(lags) != n:
        raise BenchError(f"{len(lags)} firings began, of {n}")
    return {
        "bench": "burst", "firings": n, "processes": processes, **in_seconds(lags),
        "early": sum(late < 0 for late in lags),
    }  # fmt: skip


async def _load(settings: Settings, n: int) -> None:
    connection = await connect_patiently(settings)
    try:
        await open_days(connection)
        await settle_down(connection)
        ahead = timedelta(seconds=2 + n // _PER_SECOND)
        first = (await planning.now(connection)).replace(microsecond=0) + timedelta(seconds=1) + ahead
        await register_one_offs(connection, settings, n, "stamp", first, timedelta())
    finally:
        await connection.close()
