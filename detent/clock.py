"""The only place that asks the computer for the time, or waits.

Stored instants come from the database's clock; what is measured here is elapsed time, and what a person is shown.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


def now() -> datetime:
    """For previews, logs and defaults of the command line, never for a decision about a firing."""
    return datetime.now(UTC)


def monotonic() -> float:
    """Seconds that only grow: leases, deadlines, durations."""
    return time.monotonic()


def realtime() -> float:
    """Seconds since 1970 by this machine's clock, for measuring lag on the database's own machine."""
    return time.clock_gettime(time.CLOCK_REALTIME)


async def sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)


def pause(seconds: float) -> None:
    """Blocks the thread: for supervisors that have no loop."""
    time.sleep(seconds)
