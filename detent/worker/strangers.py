"""Tells of firings that wait in our pools for a worker that can do what we can't.

Claims pass them by, so nobody else would say that a task is spelled otherwise, or that its worker isn't started.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from detent import clock
from detent.domain.errors import UNREADABLE
from detent.domain.schedule import read_work
from detent.observe.events import Events, TaskUnknown
from detent.store import claiming
from detent.store.pool import Pool
from detent.targets.registry import Registry

_OVERDUE: Final = timedelta(seconds=2)
"""Those that can do it would have come by now."""
_MOST: Final = 100
_AGAIN_SECONDS: Final = 300.0
_REMEMBERED: Final = 1_000


class Strangers:
    """Each is told once in a while."""

    def __init__(self, database: Pool, pools: Sequence[str], registry: Registry, events: Events) -> None:
        self._database = database
        self._pools = pools
        self._registry = registry
        self._events = events
        self._told_at: OrderedDict[tuple[str, str], float] = OrderedDict()

    async def tick(self) -> bool:
        async with self._database.acquire() as connection:
            found = await claiming.strangers(connection, self._pools, self._registry.needs, _OVERDUE, _MOST)
        for stranger in sorted({(pool, _name_of(work)) for pool, work in found}):
            self._tell(stranger)
        return False

    def _tell(self, stranger: tuple[str, str]) -> None:
        now = clock.monotonic()
        if now < self._told_at.get(stranger, -_AGAIN_SECONDS) + _AGAIN_SECONDS:
            return
        self._told_at[stranger] = now
        self._told_at.move_to_end(stranger)
        if len(self._told_at) > _REMEMBERED:
            self._told_at.popitem(last=False)
        self._events.emit(TaskUnknown(pool=stranger[0], task=stranger[1]))


def _name_of(work: str) -> str:
    try:
        kind, what = next(iter(read_work(work).target.items()))
    except UNREADABLE:
        return "unreadable"
    return what if kind == "task" and isinstance(what, str) else f"(a target of the kind {kind})"
