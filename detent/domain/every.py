"""`every`: elapsed time from an anchor. Wall clocks, zones and their changes have no part in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from detent.domain.limits import HORIZON, LATEST


@dataclass(frozen=True, slots=True)
class Every:
    """Slots at anchor, anchor + period, anchor + 2 periods and so on, on whole milliseconds."""

    period: timedelta
    anchor: datetime

    def next(self, after: datetime) -> datetime | None:
        if after < self.anchor:
            return self.anchor if self.anchor - after <= HORIZON else None
        slot = self.anchor + ((after - self.anchor) // self.period + 1) * self.period
        return slot if slot < LATEST else None

    def previous(self, before: datetime) -> datetime | None:
        if before <= self.anchor:
            return None
        passed = -((self.anchor - before) // self.period) - 1
        return self.anchor + passed * self.period

    def count(self, start: datetime, end: datetime) -> int:
        return max(0, self._before(end) - self._before(start))

    def shortest_gap(self) -> timedelta:
        return self.period

    def _before(self, instant: datetime) -> int:
        """How many slots lie before the instant."""
        return max(0, -((self.anchor - instant) // self.period))
