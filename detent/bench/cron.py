"""Every-minute schedules, all due at the first instant of the minute, in a system with nothing prepared: registered
like any other, planned, claimed, run and recorded over two boundaries."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Final

from detent import clock
from detent.bench.crew import Member, Report, Role, crew
from detent.bench.figures import in_seconds
from detent.bench.fleet import register_all
from detent.bench.place import open_days, place
from detent.settings import Settings
from detent.store import planning
from detent.store.pool import connect_patiently

_BOUNDARIES: Final = 2
_MINUTE: Final = 60
_LEAST_NOTICE: Final = timedelta(seconds=5)
_PATIENCE_SECONDS: Final = 55.0
_AFTERWARDS_SECONDS: Final = 2.0


def cron(url: str | None, *, n: int = 10_000, processes: int = 1, period: int = 60) -> dict[str, object]:
    """`period`: seconds between two boundaries, a minute but for tests."""
    roles = [*([Role()] * processes), Role(worker=False, planner=True)]
    with place(url) as settings, crew(settings, roles) as members:
        seconds, begin = asyncio.run(_register(settings, n, period))
        boundaries = [begin + k * timedelta(seconds=period) for k in range(_BOUNDARIES)]
        _wait_for_the_last(members, boundaries[-1])
        reports = [member.finish() for member in members]
    lags, fired = _lags(reports, boundaries)
    cpu = sum(report.cpu_seconds for report in reports)
    return {
        "bench": "cron", "schedules": n, "processes": processes, "registered_per_s": round(n / seconds),
        "firings": len(lags), "dropped": n * len(boundaries) - sum(fired.values()),
        **in_seconds(lags),
        "rss_mb": round(sum(report.rss_mb for report in reports)), "cpu_s": round(cpu, 1),
        "early": sum(late < 0 for late in lags),
    }  # fmt: skip


async def _register(settings: Settings, n: int, period: int) -> tuple[float, datetime]:
    """How long it took, and the first boundary at which all of them are due."""
    connection = await connect_patiently(settings)
    try:
        await open_days(connection)
        await connection.execute("update detent.tenant set min_interval = '1 s'")
        expression = "* * * * *" if period == _MINUTE else f"*/{period} * * * * *"
        spec = {"trigger": {"cron": expression}, "target": {"task": "stamp"}}
        began = clock.monotonic()
        await register_all(connection, settings, [{"name": f"bench-{i}", **spec} for i in range(n)])
        seconds = clock.monotonic() - began
        ready = await planning.now(connection) + _LEAST_NOTICE
    finally:
        await connection.close()
    return seconds, datetime.fromtimestamp((ready.timestamp() // period + 1) * period, UTC)


def _wait_for_the_last(members: list[Member], last: datetime) -> None:
    """Until a while after the last boundary nothing more happens."""
    while clock.realtime() < last.timestamp():
        clock.pause(0.1)
    done = -1
    deadline = clock.monotonic() + _PATIENCE_SECONDS
    while clock.monotonic() < deadline:
        now = sum(member.done.value for member in members)
        if now == done and clock.realtime() > last.timestamp() + _AFTERWARDS_SECONDS:
            return
        done = now
        clock.pause(1.0)


def _lags(reports: list[Report], boundaries: list[datetime]) -> tuple[list[float], Counter[float]]:
    """Of the firings at these boundaries: earlier ones were registered on the way."""
    counted = {boundary.timestamp() for boundary in boundaries}
    stamps = [stamp for report in reports for stamp in report.stamps if stamp[0] in counted]
    return [began - due for due, began in stamps], Counter(due for due, _ in stamps)
