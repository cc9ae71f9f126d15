"""`at`: one slot, at an instant or after a delay."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from detent.domain.limits import HORIZON


@dataclass(frozen=True, slots=True)
class At:
    instant: datetime

    def next(self, after: datetime) -> datetime | None:
        return self.instant if timedelta() < self.instant - after <= HORIZON else None

    def previous(self, before: datetime) -> datetime | None:
        return self.instant if self.instant < before else None

    def count(self, start: datetime, end: datetime) -> int:
        return int(start <= self.instant < end)

    def shortest_gap(self) -> timedelta:
        return HORIZON
