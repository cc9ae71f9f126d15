"""From wall times to instants: what happens to a pattern of wall times where clocks are changed.

The rule, for patterns of *fixed* times:

* a wall time that a gap skips fires at the transition itself, once (`at_transition`), as far past the gap as it
  lay in it (`shift`), or not at all (`skip`);
* a wall time that a fold repeats fires in its first pass, its last pass, or both.

A *recurring* pattern (a wildcard minute or hour) knows no policies: it fires at every instant whose wall time
matches, so in both passes of a fold, and nothing is made up for a gap.

Slots are a set of instants: two wall times that come to lie on one instant are one slot. The walk goes from span
to span of the zone; it relies on two facts about the IANA rules from 1900 to 2200 that
`tests/domain/test_zone.py` proves for every zone: a gap or fold never reaches past the neighbouring transition,
and so no wall time occurs three times, or is both skipped and repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from detent.domain.instant import ceil_seconds, instant_of, seconds_of
from detent.domain.limits import HORIZON, LATEST
from detent.domain.zone import Zone

_HORIZON: Final = int(HORIZON.total_seconds())
_END: Final = seconds_of(LATEST)


class Gap(StrEnum):
    AT_TRANSITION = "at_transition"
    SHIFT = "shift"
    SKIP = "skip"


class Fold(StrEnum):
    FIRST = "first"
    LAST = "last"
    BOTH = "both"


class Origin(StrEnum):
    """Why a slot lies where it lies."""

    PLAIN = "plain"
    FIRST_PASS = "first_pass"
    LAST_PASS = "last_pass"
    GAP = "gap"


class Pattern(Protocol):
    """A set of wall times: a cron expression or a recurrence rule."""

    @property
    def recurring(self) -> bool: ...

    def next_wall(self, wall: int, limit: int) -> int | None:
        """The first matching wall time at or after `wall` and before `limit`."""

    def count_walls(self, start: int, end: int) -> int:
        """How many matching wall times lie in [start, end)."""

    def shortest_gap(self) -> int:
        """The least number of seconds between two matching wall times."""


class Nominal(NamedTuple):
    """The wall time that a slot stands for, and why the slot lies where it lies."""

    wall: int
    origin: Origin


class Window(NamedTuple):
    """What of a span's wall times counts as plain, and what was skipped when the span began."""

    low: int
    high: int
    skipped_from: int
    skipped_to: int


@dataclass(frozen=True, slots=True)
class WallClock:
    """The rule of a pattern in a zone."""

    pattern: Pattern
    zone: Zone
    gap: Gap = Gap.AT_TRANSITION
    fold: Fold = Fold.FIRST

    def next(self, after: datetime) -> datetime | None:
        """The first slot strictly after, or None if there is none within 50 years."""
        start = seconds_of(after) + 1
        found = self.next_second(start, min(start + _HORIZON, _END))
        return None if found is None else instant_of(found)

    def next_second(self, start: int, end: int) -> int | None:
        """The first slot in [start, end), in seconds since 1970."""
        zone, find = self.zone, self._next_in_any if self.pattern.recurring else self._next_in
        span = zone.span_at(start)
        while start < end:
            until = min(zone.end_of(span), end)
            found = find(span, start, until)
            if found is not None:
                return found
            start, span = until, span + 1
        return None

    def count(self, start: datetime, end: datetime) -> int:
        """How many slots lie in [start, end). Spans are walked; slots only where a gap shifts them."""
        first, last = ceil_seconds(start), ceil_seconds(end)
        span, total = self.zone.span_at(first), 0
        while first < last:
            until = min(self.zone.end_of(span), last)
            total += self._count_in(span, first, until)
            first, span = until, span + 1
        return total

    def nominal(self, slot: datetime) -> Nominal:
        """What a slot of this rule stands for."""
        at = seconds_of(slot)
        span = self.zone.span_at(at)
        wall, window = at + self.zone.offsets[span], self._window(span)
        if not self._matches(wall) or not window.low <= wall < window.high:
            skipped = wall - (window.skipped_to - window.skipped_from)
            if self.gap is Gap.AT_TRANSITION:
                skipped = self.pattern.next_wall(window.skipped_from, window.skipped_to) or skipped
            return Nominal(skipped, Origin.GAP)
        return Nominal(wall, self._pass_of(span, wall))

    def _next_in_any(self, span: int, start: int, until: int) -> int | None:
        offset = self.zone.offsets[span]
        wall = self.pattern.next_wall(start + offset, until + offset)
        return None if wall is None else wall - offset

    def _next_in(self, span: int, start: int, until: int) -> int | None:
        offset, window = self.zone.offsets[span], self._window(span)
        next_wall = self.pattern.next_wall
        wall = next_wall(max(start + offset, window.low), min(until + offset, window.high))
        found = None if wall is None else wall - offset
        if window.skipped_from == window.skipped_to or self.gap is Gap.SKIP:
            return found
        begin = window.skipped_to - offset
        if self.gap is Gap.AT_TRANSITION:
            if start <= begin and next_wall(window.skipped_from, window.skipped_to) is not None:
                return begin
            return found
        earlier = window.skipped_from - begin
        shifted = next_wall(max(window.skipped_from, start + earlier), window.skipped_to)
        if shifted is None or shifted - earlier >= until:
            return found
        return shifted - earlier if found is None else min(found, shifted - earlier)

    def _window(self, span: int) -> Window:
        zone = self.zone
        offset, begin, end = zone.offsets[span], zone.starts[span], zone.end_of(span)
        before = zone.offsets[span - 1] if span else offset
        after = zone.offsets[span + 1] if span + 1 < len(zone.offsets) else offset
        low, high = begin + offset, end + offset
        if self.pattern.recurring:
            return Window(low, high, low, low)
        return Window(
            low=begin + before if before > offset and self.fold is Fold.FIRST else low,
            high=end + after if after < offset and self.fold is Fold.LAST else high,
            skipped_from=begin + min(before, offset),
            skipped_to=low,
        )

    def _count_in(self, span: int, start: int, until: int) -> int:
        offset, window = self.zone.offsets[span], self._window(span)
        low, high = max(start + offset, window.low), min(until + offset, window.high)
        count = self.pattern.count_walls(low, high)
        moved = {slot for slot in self._moved(window, window.skipped_to - offset) if start <= slot < until}
        return count + sum(not (low <= m + offset < high and self._matches(m + offset)) for m in moved)

    def _moved(self, window: Window, begin: int) -> Iterator[int]:
        """Where the skipped wall times of a gap come to lie."""
        wall = window.skipped_from
        while wall < window.skipped_to and self.gap is not Gap.SKIP:
            found = self.pattern.next_wall(wall, window.skipped_to)
            if found is None:
                return
            if self.gap is Gap.AT_TRANSITION:
                yield begin
                return
            yield found - window.skipped_from + begin
            wall = found + 1

    def _matches(self, wall: int) -> bool:
        return self.pattern.next_wall(wall, wall + 1) is not None

    def _pass_of(self, span: int, wall: int) -> Origin:
        zone = self.zone
        if span and wall < zone.starts[span] + zone.offsets[span - 1]:
            return Origin.LAST_PASS
        if span + 1 < len(zone.offsets) and wall >= zone.end_of(span) + zone.offsets[span + 1]:
            return Origin.FIRST_PASS
        return Origin.PLAIN
