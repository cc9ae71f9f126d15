"""The planner's tick: timers that are due within the look-ahead become promises and waiting rows.

Read and compute without locks, then one compare-and-set write (plan_v1), fenced by the epochs of the shards. What is
still to come goes first: when more is overdue than a tick may take, fresh slots are not kept waiting by it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Final, NamedTuple

from detent import clock
from detent.domain.errors import UNREADABLE, said
from detent.domain.plan import Cadence, Kind, Plan, plan
from detent.domain.schedule import read_cadence
from detent.floor import Floor, Look
from detent.node.catch_up import CatchUp
from detent.node.lease import Lease
from detent.node.shards import Shards
from detent.observe.events import Events, LagBreaker, LagOver, Planned, ScheduleParked
from detent.settings import Settings
from detent.store import planning
from detent.store.planning import DueTimer, Moves
from detent.store.pool import Connection, Pool

MOST: Final = 5_000
"""Timers of one look: a transaction of a tenth of a second."""
_LEAST_EACH: Final = 20
"""Timers of one shard in one look, however many shards there are."""
_MOST_PARTS: Final = 16
_WRITERS: Final = 2
"""Transactions under way at once, of different shards, while the next part is read and thought about."""
_MOST_FIRINGS: Final = 20_000
"""Firings of one transaction; timers beyond it wait for the next tick."""


class Parked(NamedTuple):
    schedule_id: int
    revision: int
    shard: int
    error: str


class Planner:
    """Plans the shards that its node holds."""

    def __init__(
        self, database: Pool, lease: Lease, shards: Shards, settings: Settings, events: Events
    ) -> None:
        self._database = database
        self._lease = lease
        self._shards = shards
        self._settings = settings
        self._events = events
        self._floor = Floor()
        self._catch_up = CatchUp()
        self._open: set[date] = set()
        self._parts = 1
        self._overdue = 0
        """At least so many timers, when more was overdue than the last tick could take."""
        self._behind_since: float | None = None

    def shards_changed(self) -> None:
        self._floor = Floor()
        self._catch_up.forget()

    async def tick(self) -> bool:
        """True if there is more to plan at once.

        Much to do is done in parts: while one is written, the next one is read and thought about."""
        epochs, began = dict(self._shards.held), clock.monotonic()
        if not epochs or not self._lease.held:
            return False
        node, look = self._lease.id, self._floor.look()
        self._overdue = 0
        async with self._database.acquire() as connection, asyncio.TaskGroup() as writing:
            places = asyncio.Semaphore(_WRITERS)
            parts = []
            for part in _dealt(epochs, self._parts):
                await places.acquire()
                drawn = await self._draw(connection, part, look)
                written = writing.create_task(self._write(node, part, drawn))
                written.add_done_callback(lambda _: places.release())
                parts.append(written)
            await self._catch_up.learn(connection, node, epochs)
        more = any(written.result() for written in parts)
        self._floor.looked(look, clock.monotonic() - began)
        self._tell_lag()
        self._parts = _MOST_PARTS if more else 1
        return more

    def _tell_lag(self) -> None:
        """Once when it begins, once when it ends."""
        if self._overdue and self._behind_since is None:
            self._behind_since = clock.monotonic()
            self._events.emit(LagBreaker(overdue=self._overdue))
        elif not self._overdue and self._behind_since is not None:
            self._events.emit(LagOver(seconds=clock.monotonic() - self._behind_since))
            self._behind_since = None

    async def _draw(self, connection: Connection, epochs: Mapping[int, int], look: Look) -> _Drawn:
        """What is due of these shards, and what the pure function says of it."""
        each = max(_LEAST_EACH, MOST // len(epochs))
        as_of = await planning.now(connection)
        until = as_of + self._settings.look_ahead_delta
        floors = {shard: self._floor.of(shard, look, until) for shard in epochs}
        due = await planning.due_timers(connection, floors, until, each)
        full = {shard for shard, n in Counter(row[4] for row in due).items() if n >= each}
        due = await self._fresh_first(connection, due, full, as_of, until, each)
        drawn = _Drawn(due, full, as_of, until)
        slots = [firing[1] for firing in drawn.moves.firings]
        if slots:
            await self._open_days(connection, min(slots), max(slots))
        return drawn

    async def _fresh_first(
        self,
        connection: Connection,
        due: list[DueTimer],
        full: set[int],
        as_of: datetime,
        until: datetime,
        each: int,
    ) -> list[DueTimer]:
        """Where a look was filled by what is overdue alone, what is still to come is fetched, too, and goes first."""
        last = {row[4]: row[1] for row in due}
        behind = {shard: as_of for shard in full if last[shard] < as_of}
        if not behind:
            return due
        self._overdue += sum(1 for row in due if row[1] < as_of)
        return [*await planning.due_timers(connection, behind, until, each), *due]

    async def _open_days(self, connection: Connection, first: datetime, last: datetime) -> None:
        """The partitions that we are about to write to. They are dropped long after, so once is enough."""
        days = {first.date(), last.date()}
        if not days <= self._open:
            await planning.ensure_partitions(connection, first, last)
            self._open = days

    async def _write(self, node: int, epochs: Mapping[int, int], drawn: _Drawn) -> bool:
        """One transaction. Whether there is more to plan of these shards."""
        if not self._lease.held:
            return False
        async with self._database.acquire() as connection:
            await self._write_on(connection, node, epochs, drawn)
        for shard, instant in drawn.reached(epochs).items():
            self._floor.reached(shard, instant)
        return drawn.more

    async def _write_on(
        self, connection: Connection, node: int, epochs: Mapping[int, int], drawn: _Drawn
    ) -> None:
        moves, late = drawn.moves, drawn.late
        if moves.timers:
            async with connection.transaction():
                spaced = await self._catch_up.space(connection, [shard for _, shard in late], drawn.as_of)
                for (n, _), at in zip(late, spaced.dues, strict=True):
                    moves.firings[n] = (*moves.firings[n][:2], at, moves.firings[n][3])
                written = await planning.plan(connection, node, epochs, moves)
                if late:
                    await planning.move_catch_up(connection, node, spaced.moved)
            self._catch_up.spaced(spaced.moved)
            self._catch_up.promised(drawn.fresh_shards)
            if written.moved:
                self._events.emit(
                    Planned(moved=written.moved, promised=written.promised, catch_ups=len(late))
                )
        for parked in drawn.parked:
            await self._park(connection, node, epochs[parked.shard], parked)

    async def _park(self, connection: Connection, node: int, epoch: int, parked: Parked) -> None:
        """If it is still ours to judge: who took it over may be newer, and able to read it."""
        async with connection.transaction():
            ours = await planning.hold_shard(connection, parked.shard, node, epoch)
            if ours:
                await planning.park(connection, parked.schedule_id, parked.revision, parked.error)
        if ours:
            self._events.emit(ScheduleParked(schedule_id=parked.schedule_id, error=parked.error))


def _dealt(epochs: Mapping[int, int], parts: int) -> Iterator[dict[int, int]]:
    """The shards with their epochs, in so many parts."""
    shards = sorted(epochs)
    for n in range(min(parts, len(shards))):
        yield {shard: epochs[shard] for shard in shards[n::parts]}


class _Drawn:
    """What the pure function says of many timers, gathered for one write."""

    def __init__(self, due: Sequence[DueTimer], full: set[int], as_of: datetime, until: datetime) -> None:
        """`full`: shards that have more due than was looked at."""
        self.as_of = as_of
        self._until = until
        self._memo: dict[tuple[str, datetime], tuple[Cadence, Plan]] = {}
        self.moves = Moves()
        self.late: list[tuple[int, int]] = []
        """Catch-ups: their places among the firings, and their shards."""
        self.fresh_shards: list[int] = []
        self.parked: list[Parked] = []
        done = 0
        for done, row in enumerate(due, start=1):  # noqa: B007
            self._draw(row)
            if len(self.moves.firings) >= _MOST_FIRINGS:
                break
        self._done, self._left, self._full = due[:done], due[done:], full
        self.more = bool(full or self._left)

    def reached(self, shards: Iterable[int]) -> dict[int, datetime]:
        """Up to where each of these shards is planned, once this is written."""
        lowest = dict.fromkeys(shards, self._until)
        for row in self._done:
            if row[4] in self._full:
                lowest[row[4]] = row[1]  # in order: the last one stays
        for row in self._left:
            lowest[row[4]] = min(lowest[row[4]], row[1])
        return lowest

    def _draw(self, row: DueTimer) -> None:
        schedule_id, next_at, revision, fired, shard, text = row
        try:
            cadence, found = self._memo.get((text, next_at)) or self._think(text, next_at, fired)
        except UNREADABLE as error:
            self.parked.append(Parked(schedule_id, revision, shard, said(error)))
            return
        firings, spread = self.moves.firings, cadence.spread
        for slot, kind in found.promises:
            if kind is Kind.CATCH_UP:
                self.late.append((len(firings), shard))
            else:
                self.fresh_shards.append(shard)
            due_at = slot if spread.none else spread.in_window(str(schedule_id), slot)
            firings.append((schedule_id, slot, due_at, kind.value))
        for start, end, reason, count in found.omissions:
            self.moves.omissions.append((schedule_id, start, end, reason.value, count))
        self.moves.timers.append((schedule_id, next_at, revision, found.next_at, len(found.promises)))

    def _think(self, text: str, next_at: datetime, fired: int) -> tuple[Cadence, Plan]:
        cadence = read_cadence(text)
        found = cadence, plan(cadence, next_at, fired, as_of=self.as_of, until=self._until)
        if cadence.triggers.max_firings is None:
            self._memo[text, next_at] = found
        return found
