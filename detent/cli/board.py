"""What `detent dev` prints: what fires next, and one line a firing as it ends.

A flood is cut: a terminal that scrolls a thousand lines a second tells nobody anything.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from detent import clock
from detent.domain.instant import seconds_of
from detent.domain.zone import Zone
from detent.node.node import Node
from detent.observe.events import (
    AttemptEnded,
    Event,
    PartitionsKept,
    SchedulesDeclared,
    ShardsChanged,
    Started,
    Stopped,
    Stopping,
    WaitingEnded,
)
from detent.store import schedules
from detent.store.pool import LOST

_EVERY_SECONDS: Final = 0.05
_MOST_LINES: Final = 20
"""In a tick; what is beyond is counted."""
_COMING: Final = 5
_REMEMBERED: Final = 10_000
_DAY: Final = timedelta(hours=12)
_HEAD: Final = "time", "schedule", "slot", "lag", "outcome"

Ended = AttemptEnded | WaitingEnded
SHOWN_HERE: Final = (
    AttemptEnded, WaitingEnded, Stopping, Stopped, Started, SchedulesDeclared, ShardsChanged, PartitionsKept,
)  # fmt: skip
"""Told by the board, or by what is printed around it: no lines of a log."""
Print = Callable[[str], None]


class Board:
    """A listener that keeps what ended until its `tick` prints it."""

    def __init__(self, reader: Zone, write: Print) -> None:
        self._reader = reader
        self._write = write
        self._ended: deque[tuple[datetime, Ended]] = deque(maxlen=_MOST_LINES)
        self._more = 0
        self._names: OrderedDict[int, str] = OrderedDict()
        self._width = len(_HEAD[1])
        self._node: Node | None = None
        self._announced = False

    def __call__(self, event: Event) -> None:
        if isinstance(event, Stopping):
            self._write("stopping: what runs may end; once more, and it is ended")
        if not isinstance(event, AttemptEnded | WaitingEnded):
            return
        if len(self._ended) < _MOST_LINES:
            self._ended.append((clock.now(), event))
        else:
            self._more += 1

    def run_on(self, node: Node) -> None:
        self._node = node
        node.loop("board", self.tick, every=_EVERY_SECONDS)

    async def tick(self) -> bool:
        if self._node is None:
            return False
        if not self._announced:
            await self._announce()
            self._announced = True
        if not self._ended:
            return False
        ended, more = list(self._ended), self._more
        self._ended.clear()
        self._more = 0
        await self._know({event.schedule_id for _, event in ended})
        for at, event in ended:
            self._line(
                self._wall(at, fine=True), self._name(event), self._slot(event), _lag(event), _said(event)
            )
        if more:
            self._write(f"  … and {more:,} more")
        return False

    async def _announce(self) -> None:
        """What fires next, and the head of the table."""
        assert self._node is not None
        async with self._node.pool.acquire() as connection:
            coming = await schedules.next_firings(connection, _COMING)
        self._widen(name for name, _ in coming)
        self._write("next firings" if coming else "nothing is scheduled yet")
        for name, slot in coming:
            self._write(f"  {self._wall(slot):<12}  {name}")
        self._write("")
        self._line(*_HEAD)

    async def _know(self, ids: set[int]) -> None:
        unknown = ids - self._names.keys()
        if not unknown or self._node is None:
            return
        with suppress(*LOST):  # then they go by their numbers
            async with self._node.pool.acquire() as connection:
                self._names.update(await schedules.schedule_names(connection, sorted(unknown)))
        while len(self._names) > _REMEMBERED:
            self._names.popitem(last=False)
        self._widen(self._names[one] for one in unknown & self._names.keys())

    def _widen(self, names: Iterable[str]) -> None:
        self._width = max(self._width, *(min(len(name), 40) for name in names), 0)

    def _name(self, event: Ended) -> str:
        return self._names.get(event.schedule_id, f"schedule {event.schedule_id}")

    def _slot(self, event: Ended) -> str:
        return self._wall(event.scheduled_for)

    def _wall(self, instant: datetime, *, fine: bool = False) -> str:
        """On the reader's clock; the day only if it isn't today."""
        wall = instant + timedelta(seconds=self._reader.offset_at(seconds_of(instant)))
        digits = f".{wall.microsecond // 1000:03d}" if fine or wall.microsecond else ""
        day = f"{wall:%a %d %b} " if abs(instant - clock.now()) > _DAY else ""
        return f"{day}{wall:%H:%M:%S}{digits}"

    def _line(self, time: str, schedule: str, slot: str, lag: str, outcome: str) -> None:
        self._write(f"  {time:<12}  {schedule:<{self._width}}  {slot:<12}  {lag:>9}  {outcome}")


def _lag(event: Ended) -> str:
    return _duration(event.lag_seconds) if isinstance(event, AttemptEnded) else "-"


def _said(event: Ended) -> str:
    if isinstance(event, WaitingEnded):
        return f"{event.outcome} ({event.code})"
    after = (
        f"after {_duration(event.seconds)}"
        if event.outcome != "succeeded"
        else f"in {_duration(event.seconds)}"
    )
    then = {"again": ", tried again", "die": ", dead"}.get(event.then, "")
    error = f": {event.error.splitlines()[0][:80]}" if event.error else ""
    return f"{event.outcome} {after}{then}{error}"


def _duration(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
