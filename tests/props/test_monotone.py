"""`next` is strictly increasing, bounded and without holes, for every zone across every change from 1990 to 2040."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise, product

import pytest

from detent.domain.cron import parse_cron
from detent.domain.instant import just_before
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
    "59 59 0-3 * * SUN,SAT",
]
POLICIES = list(product(Gap, Fold))
SECOND = timedelta(seconds=1)


# R-TIME-4
# R-TIME-9
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_next_moves_strictly_forward_over_every_change_of_every_zone(expression):
    cron = parse_cron(expression)
    for number, change in enumerate(changes()):
        policies = POLICIES[:1] if cron.recurring else POLICIES[number % 3 :: 4]
        for gap, fold in policies:
            rule = WallClock(cron, zone(change.zone), gap, fold)
            slots = [rule.next(change.at - timedelta(hours=5, seconds=1))]
            while len(slots) < 6 or slots[-1] < change.at + timedelta(minutes=30):
                slots.append(rule.next(slots[-1]))
            for earlier, later in pairwise(slots):
                assert earlier < later
                assert later - earlier < timedelta(days=32)
                assert rule.next(earlier + (later - earlier) / 2) == later
                assert rule.next(just_before(later)) == later
            for asked in (change.at - SECOND, change.at, change.at + timedelta(minutes=20)):
                assert rule.next(asked) == next(slot for slot in slots if slot > asked)


# R-TIME-8
@pytest.mark.parametrize("expression", EXPRESSIONS[:2])
def test_previous_is_the_inverse_of_next_over_every_change_of_every_zone(expression):
    cron = parse_cron(expression)
    for number, change in enumerate(changes()):
        rule = WallClock(cron, zone(change.zone), *POLICIES[number % len(POLICIES)])
        first = rule.next(change.at - timedelta(hours=30))
        second = rule.next(first)
        assert latest_before(rule.next, second) == first
