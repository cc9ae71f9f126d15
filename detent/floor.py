"""Floors: where the live entries of a queue's index begin, so that a look doesn't walk over the dead ones.

While somebody holds an old snapshot, dead entries can't be removed, and a queue that is read from its beginning gets
slower with each thing it has done. So readers remember how far they came and begin there. That is exact for what is
inserted in order; what commits late falls behind. Hence three kinds of look:

* exact: from where we came, or a second ago if that is earlier;
* near: from where nothing was left behind when we last looked, or from a while before now if that is earlier. What is
  refused for want of a seat stays behind where we came; this look finds it when its seat is free. Nothing is ever
  inserted as due before the moment of its insertion, and no transaction of ours lives longer than that while, so this
  look finds all that committed late, too;
* all: from the beginning, because invariants are better checked than believed.

The dearer a look is, the more rarely it is taken: a twentieth of the time goes to it at most, within bounds. So near
looks are the ordinary ones, until many dead entries make them dear.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Final

from detent import clock
from detent.domain.limits import EARLIEST

LONGEST_TRANSACTION: Final = timedelta(seconds=20)
"""Twice what the sessions' time-outs allow."""
_ORDINARY_COMMIT: Final = timedelta(seconds=1)
"""What is inserted as due at once is seen at once, if it commits within this."""
_SHARE: Final = 20
_NEAR_SECONDS: Final = (0.0, 5.0)
_ALL_SECONDS: Final = (5.0, 300.0)


class Look(IntEnum):
    EXACT = 0
    NEAR = 1
    ALL = 2


class Floor:
    """The floors of a reader, one a key (a lane, a shard)."""

    def __init__(self) -> None:
        self._reached: defaultdict[int, datetime] = defaultdict(lambda: EARLIEST)
        self._empty: dict[int, datetime] = {}
        self._due = {Look.NEAR: 0.0, Look.ALL: 0.0}

    def look(self) -> Look:
        """What is due to be looked at now."""
        now = clock.monotonic()
        return (
            Look.ALL
            if now >= self._due[Look.ALL]
            else Look.NEAR
            if now >= self._due[Look.NEAR]
            else Look.EXACT
        )

    def of(self, key: int, look: Look, now: datetime) -> datetime:
        """`now`: the database's time."""
        match look:
            case Look.EXACT:
                return min(self._reached[key], now - _ORDINARY_COMMIT)
            case Look.NEAR:
                return min(self._empty.get(key, self._reached[key]), now - LONGEST_TRANSACTION)
            case Look.ALL:
                return EARLIEST

    def lowest(self, look: Look, now: datetime) -> datetime:
        """Under every key's floor."""
        return min((self.of(key, look, now) for key in self._reached), default=EARLIEST)

    def reached(self, key: int, instant: datetime) -> None:
        """The last look came this far, whether it began at the floor or below it."""
        self._reached[key] = instant

    def found(self, look: Look, heads: Mapping[int, datetime], now: datetime, *, complete: bool) -> None:
        """Below the heads that a look found, nothing is left; `complete`: nor is for the other keys."""
        if complete:
            heads = dict.fromkeys(self._reached, now) | dict(heads)
        self._reached.update(heads)
        if look > Look.EXACT:
            self._empty.update(heads)

    def looked(self, look: Look, seconds: float) -> None:
        """It need not be repeated for a while."""
        now = clock.monotonic()
        for kind, (least, most) in ((Look.NEAR, _NEAR_SECONDS), (Look.ALL, _ALL_SECONDS)):
            if look >= kind:
                self._due[kind] = now + min(most, max(least, seconds * _SHARE))
