"""Every-minute schedules, all due at the first instant of the minute, in a system with nothing prepared: registered
like any other, planned, claimed, run and recorded over two boundaries."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime, timedelta
from typing import Final

from detent import clock
from detent.bench.crew import BenchError, Member, Report, Role, crew
from detent.bench.figures import in_seconds
from detent.bench.place import open_days, place
from detent.commands.bulk import create_many
from detent.commands.schedules import Actor
from detent.settings import Settings
from detent.store import planning
from detent.store.pool import connect_patiently

_BATCH: Final = 1_000
_BOUNDARIES: Final = 2
_LEAST_NOTICE: Final = timedelta(seconds=5)
_PATIENCE_SECONDS: Final = 55.0
_SPEC: Final = {"trigger": {"cron": "* * * * *"}, "target": {"task": "stamp"}}


def cron(url: str | None, *, n: int = 10_000, processes: int = 1) -> dict[str, object]:
    roles = [*([Role()] * processes), Role(worker=False, planner=True)]
    with place(url) as settings, crew(settings, roles) as members:
        seconds, begin = asyncio.run(_register(settings, n))
        boundaries = [begin + k * timedelta(minutes=1) for k in range(_BOUNDARIES)]
        _wait_for_the_last(members, boundaries[-1])
        reports = [member.finish() for member in members]
    lags, fired = _lags(reports, boundaries)
    cpu = sum(report.cpu_seconds for report in reports)
    return {
        "bench": "cron", "schedules": n, "processes": processes, "registered_per_s": round(n / seconds),
        "firings": len(lags), "dropped": n * len(boundaries) - sum(fired.values()),
        **{f"{key}": value for key, value in in_seconds(lags).items()},
        "rss_mb": round(sum(report.rss_mb for report in reports)), "cpu_s": round(cpu, 1),
        "early": sum(late < 0 for late in lags),
    }  # fmt: skip


async def _register(settings: Settings, n: int) -> tuple[float, datetime]:
    """How long it took, and the first boundary at which all of them are due."""
    connection = await connect_patiently(settings)
    try:
        await open_days(connection)
        began = clock.monotonic()
        for start in range(0, n, _BATCH):
            specs = [{"name": f"bench-{i}", **_SPEC} for i in range(start, min(start + _BATCH, n))]
            refused = await create_many(connection, settings, specs, Actor(by="bench"))
            if refused:
                raise BenchError(str(refused[0].error))
        seconds = clock.monotonic() - began
        ready = await planning.now(connection) + _LEAST_NOTICE
    finally:
        await connection.close()
    return seconds, ready.replace(second=0, microsecond=0) + timedelta(minutes=1)


def _wait_for_the_last(members: list[Member], last: datetime) -> None:
    """Until a while after the last boundary nothing more happens."""
    while clock.realtime() < last.timestamp():
        clock.pause(0.1)
    done = -1
    deadline = clock.monotonic() + _PATIENCE_SECONDS
    while clock.monotonic() < deadline:
        now = sum(member.done.value for member in members)
        if now == done and clock.realtime() > last.timestamp() + 2:
            return
        done = now
        clock.pause(1.0)


def _lags(reports: list[Report], boundaries: list[datetime]) -> tuple[list[float], Counter[float]]:
    """Of the firings at these boundaries: earlier ones were registered on the way."""
    counted = {boundary.timestamp() for boundary in boundaries}
    stamps = [stamp for report in reports for stamp in report.stamps if stamp[0] in counted]
    return [began - due for due, began in stamps], Counter(due for due, _ in stamps)
