"""The engine against brute force, around clock changes of all zones."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from detent.domain.cron import parse_cron
from detent.domain.errors import SpecError
from detent.domain.instant import just_before
from detent.domain.trigger import latest_before
from detent.domain.wallclock import Fold, Gap, WallClock
from detent.domain.zone import zone
from tests.conftest import examples
from tests.props import oracle
from tests.props.generate import STRANGE, Change, expressions, folds, gaps, near_changes
from tests.props.oracle import Sets

HOUR = timedelta(hours=1)


def _walk(rule: WallClock, start: datetime, end: datetime) -> list[datetime]:
    found, slot = [], rule.next(just_before(start))
    while slot is not None and slot < end:
        found.append(slot)
        slot = rule.next(slot)
    return found


def _rule(sets: Sets, change: Change, gap: str, fold: str) -> WallClock:
    try:
        return WallClock(parse_cron(sets.text), zone(change.zone), Gap(gap), Fold(fold))
    except SpecError as error:
        assume(error.code != "never_fires")
        raise


def _agrees(sets: Sets, change: Change, gap: str, fold: str, around: timedelta) -> None:
    start, end = change.at - around, change.at + around
    rule = _rule(sets, change, gap, fold)
    expected = oracle.slots(sets, change.zone, start, end, gap, fold)
    found = _walk(rule, start, end)
    assert found == expected
    assert rule.count(start, end) == len(expected)
    middle = change.at + timedelta(seconds=1)
    assert rule.count(start, middle) + rule.count(middle, end) == len(expected)
    assert all(earlier < later for earlier, later in pairwise(found))
    for slot in [*found[:3], *found[-3:]]:
        before = [s for s in expected if s < slot]
        assert not before or latest_before(rule.next, slot) == before[-1]


# R-TIME-1
# R-TIME-4
@given(expressions(), near_changes(), gaps, folds)
@settings(max_examples=examples(250))
def test_every_slot_around_a_clock_change_is_that_of_brute_force(sets, change, gap, fold):
    _agrees(sets, change, gap, fold, around=timedelta(hours=30))


# R-TIME-3
@given(expressions(with_seconds=True), near_changes(), gaps, folds)
@settings(max_examples=examples(40))
def test_the_same_with_seconds(sets, change, gap, fold):
    assume(not change.zone.startswith("Pacific/"))  # a gap of a day is too many seconds to step through
    _agrees(sets, change, gap, fold, around=timedelta(hours=3))


# R-TIME-4
@given(expressions(), st.sampled_from(STRANGE), gaps, folds, st.integers(-1800, 1800))
@settings(max_examples=examples(150))
def test_next_asked_from_anywhere_near_a_change_gives_the_first_slot_after_it(
    sets, change, gap, fold, minutes
):
    rule = _rule(sets, change, gap, fold)
    after = change.at + timedelta(minutes=minutes)
    window = oracle.slots(sets, change.zone, after + sets.step, after + 24 * HOUR, gap, fold)
    found = rule.next(after)
    assert found is None or found > after
    if window:
        assert found == window[0]
    else:
        assert found is None or found >= after + 24 * HOUR


# R-TIME-4
@given(st.sampled_from(STRANGE), st.integers(0, 23), st.integers(0, 59))
@example(STRANGE[7], 9, 0)
@settings(max_examples=examples(60))
def test_no_fixed_daily_time_is_lost_or_doubled_by_default(change, hour, minute):
    rule = WallClock(parse_cron(f"{minute} {hour} * * *"), zone(change.zone))
    slots = _walk(rule, change.at - timedelta(days=3), change.at + timedelta(days=3))
    nominal = [rule.nominal(slot).wall // 86_400 for slot in slots]
    assert nominal == sorted(set(nominal))
