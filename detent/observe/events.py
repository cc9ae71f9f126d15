"""The catalogue: everything that Detent tells of itself, one dataclass an event. Code emits, logs subscribe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started(Event):
    what: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopFailed(Event):
    """A tick failed; the loop goes on after a pause."""

    loop: str
    error: str
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRecovered(Event):
    loop: str
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseLost(Event):
    """The lease ran out before it was renewed: everything held under it is void."""

    node: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardsChanged(Event):
    node: int
    taken: int
    given: int
    held: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(Event):
    """Timers that moved, and the firings promised by it."""

    moved: int
    promised: int
    catch_ups: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LagBreaker(Event):
    """More is overdue than a tick may take: fresh slots go first, the backlog waits."""

    overdue: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleParked(Event):
    schedule_id: int
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringStarted(Event):
    schedule_id: int
    scheduled_for: datetime
    number: int
    lag_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptEnded(Event):
    schedule_id: int
    scheduled_for: datetime
    number: int
    outcome: str
    then: str
    error: str | None
    lag_seconds: float
    """From the instant it was due to its start."""
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingEnded(Event):
    """A firing that ended without running: missed, withdrawn, skipped, collapsed."""

    schedule_id: int
    scheduled_for: datetime
    outcome: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsStale(Event):
    """Results of firings that had been taken from this worker."""

    node: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeBuried(Event):
    """A node died; its firings were settled as lost."""

    node: int
    lost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OverLong(Event):
    """A run takes twice as long as expected."""

    schedule_id: int
    scheduled_for: datetime
    expected_seconds: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskUnknown(Event):
    """A firing names a task that this worker doesn't have."""

    task: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionsKept(Event):
    made: int
    dropped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionHeldBack(Event):
    """It is older than the retention, and can't be dropped yet."""

    name: str
    reason: str


Listener = Callable[[Event], None]


class Events:
    """Who listens. Emitting without listeners costs an empty loop."""

    def __init__(self, *listeners: Listener) -> None:
        self._listeners = listeners

    def emit(self, event: Event) -> None:
        for listen in self._listeners:
            listen(event)

    @property
    def heard(self) -> bool:
        """Whether it is worth making an event of something that happens a hundred thousand times a second."""
        return bool(self._listeners)
