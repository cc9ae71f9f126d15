from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from detent.domain import bulk
from detent.domain.bulk import Ask, SlotMemo
from detent.domain.errors import SpecError
from detent.domain.spec import parse_expression
from detent.domain.wallclock import Fold, Gap
from detent.domain.zone import zone

NOW = datetime(2026, 3, 7, 12, 0, tzinfo=UTC)
EXPRESSIONS = ["30 2 * * *", "H 2 * * *", "*/5 * * * *", "@every 90s", "FREQ=DAILY", "@daily", "0 0 29 2 *"]


def asks() -> list[Ask]:
    return [
        Ask(expression, where, NOW + timedelta(minutes=late), gap, fold, identity)
        for expression in EXPRESSIONS
        for where in ("UTC", "America/New_York")
        for late in (0, 0, 1, 2000)
        for gap, fold in ((Gap.AT_TRANSITION, Fold.FIRST), (Gap.SHIFT, Fold.BOTH))
        for identity in ("a", "b")
    ]


# R-TIME-1
def test_bulk_answers_are_those_of_single_questions():
    memo = SlotMemo()
    expected = [
        parse_expression(
            ask.expression,
            where=zone(ask.timezone),
            gap=ask.gap,
            fold=ask.fold,
            as_of=ask.after,
            identity=ask.identity,
        ).next(ask.after)
        for ask in asks()
    ]
    assert memo.next_slots(asks()) == expected
    assert memo.next_slots(asks()) == expected


def test_the_memo_is_bounded(monkeypatch):
    monkeypatch.setattr(bulk, "_MAX_RULES", 3)
    monkeypatch.setattr(bulk, "_MAX_SLOTS", 5)
    memo = SlotMemo()
    for _ in range(3):
        assert memo.next_slots(asks()) == SlotMemo().next_slots(asks())
    assert len(memo._rules) <= 3


def test_an_expression_that_cannot_be_parsed_raises():
    with pytest.raises(SpecError):
        SlotMemo().next_slots([Ask("61 * * * *", "UTC", NOW)])
