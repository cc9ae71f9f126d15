"""The only place that asks the computer for the time, or waits.

Stored instants come from the database's clock; what is measured here is elapsed time, and what a person is shown.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from datetime import UTC, datetime
from typing import Final


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


_SAMPLES: Final = 8
_STEPPED_SECONDS: Final = 0.5


class DatabaseClock:
    """The database's time, never ahead of it: its last word plus what has passed here since the answer arrived.

    Each answer bounds the offset between its clock and our monotonic one from below; the largest of the last few is the
    tightest. An answer far below them means that the database's clock was set back: then only that answer counts.
    """

    def __init__(self) -> None:
        self._offsets: deque[float] = deque(maxlen=_SAMPLES)
        self.offset = 0.0
        """Database time, in seconds since 1970, less our monotonic time."""

    def observe(self, read_at: datetime) -> None:
        """An instant that the database read before the answer that has just arrived."""
        offset = read_at.timestamp() - monotonic()
        if self._offsets and offset < self.offset - _STEPPED_SECONDS:
            self._offsets.clear()
        self._offsets.append(offset)
        self.offset = max(self._offsets)

    def until(self, instant: datetime) -> float:
        """Our monotonic time when the database's clock has surely reached the instant."""
        return instant.timestamp() - self.offset

    @property
    def known(self) -> bool:
        return bool(self._offsets)

    def now(self) -> datetime:
        """The instant that the database's clock has surely reached."""
        return datetime.fromtimestamp(monotonic() + self.offset, UTC)
