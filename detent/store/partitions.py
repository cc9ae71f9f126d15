"""Days: the partitions of firing and attempt, and what leaves with them.

Partitions are dropped in three steps, each of which may be the last one before a crash: DETACH CONCURRENTLY marks the
partition and waits for whoever still reads it; FINALIZE ends what an earlier try left marked; DROP takes
what is detached. DETACH CONCURRENTLY wants no transaction around it, and names that are no parameters: so these
statements are no files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple

import asyncpg

from detent.store.pool import Connection
from detent.store.statements import statement

_NAME: Final = re.compile(r"(?:firing|attempt)_\d{8}")
_DETACH: Final = "alter table detent.{parent} detach partition detent.{name} concurrently"
_FINALIZE: Final = "alter table detent.{parent} detach partition detent.{name} finalize"
_DROP: Final = "drop table detent.{name}"
_ANALYZE: Final = "analyze detent.{name}"

MOVED_ON: Final = (
    asyncpg.QueryCanceledError,
    asyncpg.LockNotAvailableError,
    asyncpg.ObjectNotInPrerequisiteStateError,
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedObjectError,
)
"""A partition that is still read, or that another node detached or dropped meanwhile: the next tick looks again."""


class Partition(NamedTuple):
    name: str
    parent: str
    attached: bool
    pending: bool
    """A detach that was cut off."""
    fresh: bool
    """It has rows, and was never analysed."""

    @property
    def day(self) -> date:
        return datetime.strptime(self.name[-8:], "%Y%m%d").date()  # noqa: DTZ007 a day of UTC


def outlived(found: Sequence[Partition], now: datetime, retention_days: int) -> list[Partition]:
    """Those whose last instant is older than the retention."""
    first_kept = (now - timedelta(days=retention_days)).date()
    return [partition for partition in found if partition.day < first_kept]


async def partitions(connection: Connection) -> list[Partition]:
    return [Partition(*row) for row in await connection.fetch(statement("partitions"))]


async def unfinished(connection: Connection, begin: datetime, end: datetime) -> bool:
    found: bool = await connection.fetchval(statement("unfinished"), begin, end)
    return found


async def detach(connection: Connection, partition: Partition) -> None:
    await connection.execute(_with_name(_FINALIZE if partition.pending else _DETACH, partition))


async def drop(connection: Connection, partition: Partition) -> None:
    await connection.execute(_with_name(_DROP, partition))


async def analyze(connection: Connection, partition: Partition) -> None:
    await connection.execute(_with_name(_ANALYZE, partition))


async def prune(connection: Connection, what: str, before: datetime, limit: int) -> int:
    """`what` is the end of the name of a file, `prune_….sql`. Returns how many rows went."""
    done: str = await connection.execute(statement(f"prune_{what}"), before, limit)
    return int(done.rpartition(" ")[2])


async def fold_tallies(connection: Connection, begin: datetime, end: datetime) -> None:
    await connection.execute(statement("fold_tallies"), begin, end)


def _with_name(sql: str, partition: Partition) -> str:
    if not _NAME.fullmatch(partition.name):
        raise ValueError(partition.name)
    return sql.format(name=partition.name, parent=partition.name.partition("_")[0])
