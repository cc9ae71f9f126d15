"""The pruner: partitions a week ahead, none older than the retention, and what belongs to a day leaves with it.

Run by one node at a time (who holds shard 0), though two do no harm. Its connection is its own and direct, as the owner
of the tables: it waits for readers longer than others may, and outside transactions.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import Final

import asyncpg

from detent.observe.events import Events, PartitionHeldBack, PartitionsKept, UpkeepRefused
from detent.settings import Settings
from detent.store import partitions, planning
from detent.store.partitions import MOVED_ON, Partition
from detent.store.pool import Connection, connect_patiently

EVERY_SECONDS: Final = 60.0
AHEAD: Final = timedelta(days=7)
BEHIND: Final = timedelta(days=1)
_DROPS_A_TICK: Final = 2
"""The firings and the attempts of a day."""
_PARENTS: Final = 2
_ANALYSES_A_TICK: Final = 4
_ROWS_A_TICK: Final = 5000
"""A delete of so many rows takes some tens of milliseconds and makes no burst of WAL."""
_FOLD_AFTER: Final = timedelta(minutes=5)
_FOLD_AT_MOST: Final = timedelta(minutes=30)
_DETACH_TIMEOUT: Final = "20s"
"""Below a tick of the runner. What it cuts off stays marked, and the next tick goes on with it."""
_FINALIZE_TIMEOUT: Final = "3s"
"""It holds a lock on the parent while it waits, which keeps others from making partitions."""
_ADVICE: Final = "give the owner of the tables by DETENT_MAINTENANCE_URL"
_LEFTOVERS: Final = ("dead", "stale_results", "tallies", "omissions", "revisions", "progress")


class Pruner:
    """`tick` for the shared runner, every minute."""

    def __init__(self, settings: Settings, events: Events, mine: Callable[[], bool] = lambda: True) -> None:
        self._settings = settings
        self._events = events
        self._mine = mine
        self._connection: Connection | None = None
        self._folded: datetime | None = None

    async def tick(self) -> bool:
        """Whether there is more to do at once."""
        if not self._mine():
            await self.close()
            return False
        connection = await self._connected()
        try:
            return await self._keep(connection)
        except asyncpg.InsufficientPrivilegeError as error:
            self._events.emit(UpkeepRefused(error=f"{error}: {_ADVICE}"))
            return False

    async def _keep(self, connection: Connection) -> bool:
        now = await planning.now(connection)
        made = await planning.ensure_partitions(connection, now - BEHIND, now + AHEAD)
        found = await partitions.partitions(connection)
        await self._analyze(connection, found)
        old = partitions.outlived(found, now, self._settings.retention_days)
        dropped = await self._drop(connection, old)
        if made or dropped:
            self._events.emit(PartitionsKept(made=made, dropped=dropped))
        await self._fold(connection, now)
        more = await self._prune(connection, now)
        return more or bool(dropped and len(old) > dropped)

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _connected(self) -> Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await connect_patiently(self._settings)
        return self._connection

    async def _drop(self, connection: Connection, old: list[Partition]) -> int:
        """One whose firings have not ended is passed over. One detach of a parent is pending at most, so one that is
        still read holds up the later ones."""
        dropped = 0
        busy: set[str] = set()
        for partition in old:
            if dropped >= _DROPS_A_TICK or len(busy) == _PARENTS:
                break
            if partition.parent in busy:
                continue
            begin = datetime.combine(partition.day, time(), UTC)
            if partition.attached and await partitions.unfinished(
                connection, begin, begin + timedelta(days=1)
            ):
                self._events.emit(
                    PartitionHeldBack(name=partition.name, reason="a firing in it has not ended")
                )
                continue
            try:
                await self._detach(connection, partition)
                await connection.execute("set lock_timeout = '3s'")
                await partitions.drop(connection, partition)
                dropped += 1
            except MOVED_ON as error:
                busy.add(partition.parent)
                self._events.emit(PartitionHeldBack(name=partition.name, reason=str(error)))
            except asyncpg.InsufficientPrivilegeError as error:
                self._events.emit(PartitionHeldBack(name=partition.name, reason=f"{error}: {_ADVICE}"))
                return dropped
            finally:
                await connection.execute("set statement_timeout = 0; set lock_timeout = 0")
        return dropped

    async def _detach(self, connection: Connection, partition: Partition) -> None:
        if partition.attached:
            limit = _FINALIZE_TIMEOUT if partition.pending else _DETACH_TIMEOUT
            await connection.execute(f"set statement_timeout = '{limit}'")
            await partitions.detach(connection, partition)

    async def _analyze(self, connection: Connection, found: list[Partition]) -> None:
        for partition in [p for p in found if p.fresh and p.attached and not p.pending][:_ANALYSES_A_TICK]:
            await partitions.analyze(connection, partition)

    async def _fold(self, connection: Connection, now: datetime) -> None:
        """Minutes behind the present, once each; after a start from half an hour before."""
        until = (now - _FOLD_AFTER).replace(second=0, microsecond=0)
        begin = self._folded or until - _FOLD_AT_MOST
        end = min(until, begin + _FOLD_AT_MOST)
        if begin < end:
            await partitions.fold_tallies(connection, begin, end)
        self._folded = end

    async def _prune(self, connection: Connection, now: datetime) -> bool:
        before = now - timedelta(days=self._settings.retention_days)
        gone = [await partitions.prune(connection, what, before, _ROWS_A_TICK) for what in _LEFTOVERS]
        return max(gone) == _ROWS_A_TICK
