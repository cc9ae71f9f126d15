"""Spaces late firings out, so that what an outage left behind does not come down on the targets all at once.

Each shard catches up at twice its normal rate: the firings a second that its planner has been promising. The rate is
remembered in the table beside the cursor up to which catch-ups are spaced out already, for the shard's next planner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from detent import clock
from detent.store import planning
from detent.store.planning import CatchUpCursor
from detent.store.pool import Connection

_TIMES_NORMAL: Final = 2
_LEAST_RATE: Final = 1.0
"""A shard's normal rate is taken for at least one a second: a small system catches up at once."""
_FARTHEST: Final = timedelta(hours=1)
"""However much there is, nothing is put off by more: the caps of pools and tenants bound the rest."""
_WINDOW_SECONDS: Final = 60.0
_LEARNING: Final = 0.5


class Spaced(NamedTuple):
    dues: list[datetime]
    moved: list[CatchUpCursor]
    """To be written after everything else in their transaction, in this order."""


class CatchUp:
    """Rates and cursors of the shards that this planner holds."""

    def __init__(self) -> None:
        self._cursors: dict[int, CatchUpCursor] = {}
        self._promised: Counter[int] = Counter()
        self._since = clock.monotonic()

    def forget(self) -> None:
        """The shards have changed hands. Whoever is at work goes on with the cursors that he began with."""
        self._cursors = {}
        self._promised.clear()
        self._since = clock.monotonic()

    def promised(self, shards: Iterable[int]) -> None:
        """Fresh firings, each by its shard."""
        self._promised.update(shards)

    async def space(self, connection: Connection, shards: list[int], as_of: datetime) -> Spaced:
        """An instant for each late firing, given by its shard, in order."""
        cursors = await self._known(connection, set(shards))
        moved = {shard: cursors[shard] for shard in shards}
        found = []
        for shard in shards:
            _, cursor, rate = moved[shard]
            at = min(max(as_of, cursor), as_of + _FARTHEST)
            step = timedelta(seconds=1 / (_TIMES_NORMAL * max(rate, _LEAST_RATE)))
            moved[shard] = CatchUpCursor(shard, at + step, rate)
            found.append(at)
        return Spaced(found, [moved[shard] for shard in sorted(moved)])

    def spaced(self, moved: Iterable[CatchUpCursor]) -> None:
        """It is committed. Tries that fail don't put anything off."""
        self._cursors.update((cursor.shard, cursor) for cursor in moved)

    async def learn(self, connection: Connection, node: int, held: Iterable[int]) -> None:
        """Once a minute: what was normal in it."""
        seconds = clock.monotonic() - self._since
        if seconds < _WINDOW_SECONDS:
            return
        shards = set(held)
        cursors = await self._known(connection, shards)
        learned = []
        for shard in sorted(shards):
            _, cursor, rate = cursors[shard]
            seen = self._promised[shard] / seconds
            learned.append(CatchUpCursor(shard, cursor, rate + (seen - rate) * _LEARNING if rate else seen))
        self._promised.clear()
        self._since = clock.monotonic()
        await planning.move_catch_up(connection, node, learned)
        self.spaced(learned)

    async def _known(self, connection: Connection, shards: set[int]) -> dict[int, CatchUpCursor]:
        """The cursors, these among them."""
        cursors = self._cursors
        unknown = shards - cursors.keys()
        if unknown:
            for row in await planning.catch_up_cursors(connection, sorted(unknown)):
                cursors.setdefault(row.shard, row)
        return cursors
