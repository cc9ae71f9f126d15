"""How late firings begin at a steady load: each at its own instant, planned, claimed and released like any other."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Final

from detent import clock
from detent.bench.crew import BenchError, Role, crew, wait_until_done
from detent.bench.figures import in_milliseconds
from detent.bench.fleet import register_one_offs, settle_down
from detent.bench.place import open_days, place
from detent.settings import Settings
from detent.store import planning
from detent.store.pool import connect_patiently

_AHEAD: Final = timedelta(seconds=3)
"""In which all of them are registered."""


def lag(url: str | None, *, n: int = 4_000, rate: int = 200) -> dict[str, object]:
    seconds = -(-n // rate)
    with place(url) as settings, crew(settings, [Role(planner=True)]) as members:
        asyncio.run(_load(settings, n, timedelta(seconds=1) / rate))
        wait_until_done(members, n, seconds + 30.0)
        stamps = members[0].finish().stamps
    lags = [began - due for due, began in stamps]
    if len(lags) != n:
        raise BenchError(f"{len(lags)} firings began, of {n}")
    bare = asyncio.run(_bare_timers(rate, min(seconds, 5)))
    return {
        "bench": "lag", "firings": len(lags), "rate_per_s": rate, **in_milliseconds(lags),
        "early": sum(late < 0 for late in lags),
        "bare_timer": in_milliseconds(bare),
    }  # fmt: skip


async def _load(settings: Settings, n: int, step: timedelta) -> None:
    connection = await connect_patiently(settings)
    try:
        await open_days(connection)
        await settle_down(connection)
        first = (await planning.now(connection)).replace(microsecond=0) + _AHEAD
        await register_one_offs(connection, settings, n, "stamp", first, step)
    finally:
        await connection.close()


async def _bare_timers(rate: int, seconds: int) -> list[float]:
    """The same instants on a bare asyncio loop with nothing else to do: what the operating system gives."""
    loop = asyncio.get_running_loop()
    lags: list[float] = []

    def note(at: float) -> None:
        lags.append(loop.time() - at)

    begin = loop.time() + 0.1
    for n in range(rate * seconds):
        at = begin + n / rate
        loop.call_at(at, note, at)
    await clock.sleep(seconds + 0.3)
    return lags
