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
class Stopping(Event):
    """Told to end: nothing new is begun."""

    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped(Event):
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnded(Event):
    """A process that should run ended, and is started again."""

    process: int
    code: int
    again_in_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseDied(Event):
    """The embedded PostgreSQL ended by itself, and is started again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseRestarted(Event):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulesDeclared(Event):
    """What the code of an app says is in the store. `left`: no longer in the code, and left alone."""

    app: str
    changed: int
    unchanged: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclarationRefused(Event):
    app: str
    schedule: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolNotServed(Event):
    """An app has schedules for a pool that the worker which runs it doesn't serve."""

    pool: str
    schedules: int


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
class StoreLost(Event):
    """The database can't be reached. Everything goes on when it is back."""

    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreBack(Event):
    seconds: float
    """How long it was away."""


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
class LagOver(Event):
    """Everything that was overdue is planned."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleParked(Event):
    schedule_id: int
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulePaused(Event):
    """By its target, which asks never to be called again."""

    schedule_id: int
    reason: str


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
class FiringDeferred(Event):
    """It could not begin, and waits again without an attempt."""

    schedule_id: int
    scheduled_for: datetime
    until: datetime
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingEnded(Event):
    """A firing that ended without running: missed, withdrawn, skipped, collapsed."""

    schedule_id: int
    scheduled_for: datetime
    outcome: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RaisedTooLate(Event):
    """A task raised after its firing had concluded: after its own transaction, or after it was given up."""

    schedule_id: int
    scheduled_for: datetime
    error: str


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
    """It waits in a pool of this worker, which doesn't have it: left to those that do, if there are any."""

    task: str
    pool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotsMoved(Event):
    """The rules of its zone have changed: a schedule has a new revision."""

    schedule_id: int
    tenant: str
    name: str
    before: datetime | None
    """The first slot that lies elsewhere now, by the old rules."""
    after: datetime | None
    """And by the new ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneRulesChanged(Event):
    """All schedules are planned by another tzdata package now."""

    before: str
    after: str
    zones: tuple[str, ...]
    """Whose rules differ within two years."""
    schedules: int
    """Whose slots moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneRulesOutdated(Event):
    """Another planner has a newer tzdata package. This one leaves planning to it, as long as it lives."""

    ours: str
    newest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionsKept(Event):
    made: int
    dropped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionHeldBack(Event):
    """It is older than the retention, and can't be dropped yet."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepRefused(Event):
    """Partitions are not dropped, and leftovers not deleted: the user may not."""

    error: str


Listener = Callable[[Event], None]


class Events:
    """Who listens. Emitting without listeners costs an empty loop."""

    def __init__(self, *listeners: Listener, successes: bool = False) -> None:
        self._listeners = listeners
        self.successes = successes
        """Whether somebody wants to hear of every attempt that succeeds: there may be a hundred thousand a second."""

    def emit(self, event: Event) -> None:
        for listen in self._listeners:
            listen(event)
