"""Jitter and fire windows: when a firing is due, which may be later than its slot.

Neither moves the slot: identity stays the nominal time. Both are a stable hash of the firing's identity, so every
node, and every second look, computes the same due instant; they are applied after the slots are computed, so that
schedules that share a trigger share the work.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from detent.domain.errors import SpecError
from detent.domain.instant import MILLISECOND, format_instant
from detent.domain.stable import stable_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """`jitter`: up to so much later, by hash. `window`: a planner may choose any instant in it to level its load."""

    jitter: timedelta = timedelta()
    window: timedelta = timedelta()

    @property
    def none(self) -> bool:
        return not self.jitter and not self.window

    def due_at(self, identity: str, slot: datetime) -> datetime:
        """The slot plus its jitter, which is whole milliseconds and less than `jitter`."""
        return slot + _part_of(self.jitter, "jitter", identity, slot)

    def in_window(self, identity: str, slot: datetime) -> datetime:
        """Where in [due, due + window] the hash puts it: load spreads evenly without knowing of other schedules."""
        due = self.due_at(identity, slot)
        return due + _part_of(self.window + MILLISECOND, "window", identity, slot) if self.window else due

    def refuse_beyond(self, gap: timedelta) -> None:
        """A spread as long as the distance between slots would let firings overtake one another."""
        if self.jitter + self.window >= gap:
            raise SpecError(
                "jitter and window together must be shorter than the distance between two slots",
                code="out_of_range",
                field="jitter" if self.jitter else "window",
            )


def _part_of(whole: timedelta, salt: str, identity: str, slot: datetime) -> timedelta:
    steps = whole // MILLISECOND
    if not steps:
        return timedelta()
    return stable_hash(identity, format_instant(slot), salt) % steps * MILLISECOND
