"""`next` is strictly increasing and bounded, for every zone across every change from 1990 to 2040."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

import pytest

from detent.domain.cron import parse_cron
from detent.domain.trigger import latest_before
from detent.domain.wallclock import Fold, Gap, WallClock
from detent.domain.zone import zone
from tests.props.generate import changes

EXPRESSIONS = [
    "30 2 * * *",
    "0 0 * * *",
    "*/20 * * * *",
    "30 */2 * * *",
    "15,45 0-3,23 * * *",
    "30 0 1,2,14,28 * *",
]


# R-TIME-4
# R-TIME-9
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_next_moves_strictly_forward_over_every_change_of_every_zone(expression):
    cron = parse_cron(expression)
    policies = [(Gap.SKIP, Fold.FIRST)] if cron.recurring else list(product(Gap, Fold))[::4]
    for change in changes():
        for gap, fold in policies:
            rule = WallClock(cron, zone(change.zone), gap, fold)
            slot = after = change.at - timedelta(hours=5, seconds=1)
            for _ in range(8):
                slot = rule.next(after)
                assert slot > after
                assert slot - after < timedelta(days=32)
                after = slot
            inside = rule.next(change.at + timedelta(minutes=20))
            assert inside > change.at + timedelta(minutes=20)


# R-TIME-8
@pytest.mark.parametrize("expression", EXPRESSIONS[:2])
def test_previous_is_the_inverse_of_next_over_every_change_of_every_zone(expression):
    cron = parse_cron(expression)
    for change in changes()[::5]:
        rule = WallClock(cron, zone(change.zone), fold=Fold.BOTH)
        first = rule.next(change.at - timedelta(hours=30))
        second = rule.next(first)
        assert latest_before(rule.next, second) == first
