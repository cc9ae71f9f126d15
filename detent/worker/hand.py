"""What a worker has in its hands: firings claimed and not yet concluded."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from detent.store.claiming import Claimed
from detent.targets.target import Call

MAX_PREFETCH: Final = 8_000
"""Firings in hand beyond the places to run them: a tenth of a second's work at full speed, so that one volley can be
claimed while another runs and a third is written down."""
MAX_UNWRITTEN: Final = 16_000
"""Firings in hand, ended or not, beyond the places: then the database must catch up."""
_PREFETCH_SECONDS: Final = 0.1
_UNKNOWN_SECONDS: Final = 0.005
"""What a firing is taken to last before one was seen to end."""
_LEARNING: Final = 0.2


class Held:
    """One firing in hand. A plain, slotted object: there may be a hundred thousand of them a second."""

    __slots__ = (
        "call",
        "cancel",
        "cancelled_at",
        "claimed",
        "first_cancelled_at",
        "node",
        "offset",
        "release_at",
        "settled",
        "started",
        "task",
        "timeout_seconds",
        "wish",
    )

    def __init__(
        self, claimed: Claimed, call: Call, node: int, release_at: float, offset: float,
        pool_timeout: float | None = None,
    ) -> None:  # fmt: skip
        self.claimed = claimed
        self.call = call
        self.node = node
        self.offset = offset
        """Of the database's clock to ours when it was claimed. Its release goes by it, and so does what is written down
        of it: else it might seem to have begun early, or ended before it began."""
        self.release_at = release_at
        """By our monotonic clock, when it may begin."""
        self.timeout_seconds = pool_timeout if call.timeout_seconds is None else call.timeout_seconds
        """As its schedule says, else its pool."""
        self.started = 0.0
        """By our monotonic clock; 0 until then."""
        self.task: asyncio.Task[None] | None = None
        self.cancel: str | None = None
        """Why it is to end: a code."""
        self.wish = ""
        """Who wants it, and why."""
        self.first_cancelled_at = self.cancelled_at = 0.0
        self.settled = False
        """Nobody waits for its outcome: its own transaction was its last word, or it was given up."""


class Hand:
    """All of them, by schedule and seat, and how much more there is room for."""

    def __init__(self, places: int) -> None:
        self.places = places
        self._held: dict[tuple[int, int], Held] = {}
        self._by_lane: Counter[int] = Counter()
        self._mean_seconds = _UNKNOWN_SECONDS
        self.on_concluded: Callable[[Sequence[Held]], None] | None = None
        """Told of firings whose outcome is on record."""
        self.unwritten: Callable[[], int] = _none
        """How many in hand have ended."""

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[Held]:
        return iter(list(self._held.values()))

    def take(self, held: Sequence[Held]) -> None:
        for one in held:
            self._held[one.claimed[0], one.claimed[2]] = one
        self._by_lane.update([one.claimed[7] for one in held])

    def let_go(self, held: Sequence[Held], *, concluded: bool) -> None:
        for one in held:
            key = one.claimed[0], one.claimed[2]
            if self._held.get(key) is one:
                del self._held[key]
                self._by_lane[one.claimed[7]] -= 1
        if concluded and self.on_concluded is not None:
            self.on_concluded(held)

    def learn(self, seconds: float, firings: int) -> None:
        """So long they took together."""
        self._mean_seconds += (seconds / firings - self._mean_seconds) * _LEARNING

    def learn_waiting(self, seconds: float) -> None:
        """One has waited so long for a place: they last longer than we thought."""
        self._mean_seconds = max(self._mean_seconds, seconds)

    def find(self, schedule_id: int, seat: int, volley: int) -> Held | None:
        held = self._held.get((schedule_id, seat))
        return held if held is not None and held.claimed[4] == volley else None

    def in_flight(self, lane: int) -> int:
        return self._by_lane[lane]

    @property
    def beyond_places(self) -> int:
        """Claimed and not ended, more than there are places."""
        return len(self._held) - self.unwritten() - self.places

    def room(self) -> int:
        """Places, and what they will have run in a moment: a worker with slow firings hoards none. What has ended needs
        no place, but is in hand until it is on record."""
        prefetch = self.places * _PREFETCH_SECONDS / max(self._mean_seconds, 1e-6)
        room = min(MAX_PREFETCH, int(prefetch)) - self.beyond_places
        return min(room, self.places + MAX_UNWRITTEN - len(self._held))


def _none() -> int:
    return 0
