"""The next slots of many schedules at once.

Fleets repeat themselves: thousands of schedules say `0 * * * *` in a few zones and are asked at the same instant.
So rules are parsed once a text, and slots computed once a (rule, instant). Both memos are bounded.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple

from detent.domain.spec import parse_expression
from detent.domain.trigger import Rule
from detent.domain.wallclock import Fold, Gap
from detent.domain.zone import zone

_MAX_RULES: Final = 100_000
_MAX_SLOTS: Final = 1_000_000


class Ask(NamedTuple):
    """The next slot of this expression after that instant. `identity` matters to `H` alone."""

    expression: str
    timezone: str
    after: datetime
    gap: Gap = Gap.AT_TRANSITION
    fold: Fold = Fold.FIRST
    identity: str = ""


class SlotMemo:
    """Remembers rules by their text and slots by (rule, instant)."""

    def __init__(self) -> None:
        self._rules: dict[tuple[str | datetime | None, ...], Rule] = {}
        self._slots: dict[tuple[int, datetime], datetime | None] = {}

    def next_slots(self, asks: Iterable[Ask]) -> list[datetime | None]:
        """One answer an ask, in order. An expression that can't be parsed raises: park it before."""
        slots, found = self._slots, []
        if len(slots) > _MAX_SLOTS:
            slots.clear()
        for ask in asks:
            rule = self.rule(ask)
            key = (id(rule), ask.after)
            try:
                found.append(slots[key])
            except KeyError:
                found.append(slots.setdefault(key, rule.next(ask.after)))
        return found

    def rule(self, ask: Ask) -> Rule:
        expression, timezone, after, gap, fold, identity = ask
        picks = "H" in expression or "h" in expression
        begins = expression.lstrip()[:1] in "@FRfr"  # @every and FREQ= count from the instant of asking
        key = (expression, timezone, gap, fold, identity if picks else "", after if begins else None)
        rule = self._rules.get(key)
        if rule is None:
            rule = parse_expression(
                expression, where=zone(timezone), gap=gap, fold=fold, as_of=after, identity=identity
            )
            if len(self._rules) >= _MAX_RULES:
                self._rules.clear()
                self._slots.clear()
            self._rules[key] = rule
        return rule
