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
_FINER_SECONDS: Final = 2e-6
"""What a float of seconds since 1970 can't tell."""
_DRIFT: Final = 0.0005
"""How much slower than ours the database's clock may run: as much as time servers slew by."""


class DatabaseClock:
    """The database's time, never ahead of it: its last word plus what has passed here since the answer arrived.

    Each answer bounds the offset between its clock and our monotonic one: from below by when it arrived, from above by
    when it was asked for. The largest of the last few lower bounds is the tightest. An answer whose upper bound lies
    below it proves that the database's clock was set back: then only that answer counts. One that was merely slow
    proves nothing.
    """

    def __init__(self) -> None:
        self._bounds: deque[tuple[float, float]] = deque(maxlen=_SAMPLES)
        """Each with the moment it is from."""
        self.offset = 0.0
        """Database time, in seconds since 1970, less our monotonic time."""

    def observe(self, read_at: datetime, asked_at: float) -> None:
        """An instant that the database read between `asked_at`, by our monotonic clock, and now."""
        now, read = monotonic(), read_at.timestamp() - _FINER_SECONDS
        if self._bounds and read - asked_at < self.offset - _FINER_SECONDS:
            self._bounds.clear()
        self._bounds.append((read - now, now))
        self.offset = max(bound - _DRIFT * (now - since) for bound, since in self._bounds)

    def until(self, instant: datetime) -> float:
        """Our monotonic time when the database's clock has surely reached the instant."""
        return instant.timestamp() - self.offset

    @property
    def known(self) -> bool:
        return bool(self._bounds)

    def now(self) -> datetime:
        """The instant that the database's clock has surely reached."""
        return datetime.fromtimestamp(monotonic() + self.offset, UTC)
