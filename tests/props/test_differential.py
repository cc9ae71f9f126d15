"""The engine against cronsim and croniter, with each known disagreement listed and explained.

Both are right about most of what they can say, so they judge what brute force is too slow for: slots far ahead.
Where they differ from us, brute force (`oracle.py`) is on our side: `test_known_disagreements` shows one example of
each class, with their answer and ours.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter
from cronsim import CronSim
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from detent.domain.cron import parse_cron
from detent.domain.errors import SpecError
from detent.domain.instant import instant_of, parse_instant, seconds_of
from detent.domain.wallclock import WallClock
from detent.domain.zone import zone
from tests.conftest import examples
from tests.props.generate import near_changes

ANSWERS = 4
HOUR = 3600


def ours(expression: str, where: str, after: datetime) -> list[datetime]:
    rule, found, slot = WallClock(parse_cron(expression), zone(where)), [], after
    while len(found) < ANSWERS and (slot := rule.next(slot)) is not None:
        found.append(slot)
    return found


def of_cronsim(expression: str, where: str, after: datetime, count: int = ANSWERS) -> list[datetime]:
    walk = CronSim(expression, after.astimezone(ZoneInfo(where)))
    return [next(walk).astimezone(UTC) for _ in range(count)]


def of_croniter(expression: str, where: str, after: datetime, count: int = ANSWERS) -> list[datetime]:
    walk = croniter(expression, after.astimezone(ZoneInfo(where)))
    return [walk.get_next(datetime).astimezone(UTC) for _ in range(count)]


def field(low: int, high: int) -> st.SearchStrategy[str]:
    """What all three read alike: no wrapping, no `a-a`, no range that covers a field without being a star."""
    value = st.integers(low, high)
    return st.one_of(
        st.just("*"),
        st.just("*"),
        value.map(str),
        st.integers(2, min(30, high - low)).map(lambda step: f"*/{step}"),
        st.tuples(value, value)
        .filter(lambda r: 0 < r[1] - r[0] < high - low)
        .map(lambda r: f"{r[0]}-{r[1]}"),
        st.lists(value, min_size=2, max_size=4).map(lambda values: ",".join(map(str, values))),
    )


def day_field(low: int, high: int) -> st.SearchStrategy[str]:
    return st.one_of(st.just("*"), st.just("*"), field(low, high))


expressions = st.tuples(field(0, 59), field(0, 23), day_field(1, 31), day_field(1, 12), day_field(0, 6)).map(
    " ".join
)
offsets = st.integers(-4000, 2000).map(lambda n: timedelta(minutes=n))


def why_cronsim_differs(where: str, after: datetime, until: datetime) -> str | None:
    """Reasons why cronsim may be wrong somewhere between these instants."""
    rules = zone(where)
    changes = zip(rules.starts[1:], pairwise(rules.offsets), strict=True)
    for at, (before, now) in changes:
        if not seconds_of(after) - 25 * HOUR <= at <= seconds_of(until) + 25 * HOUR:
            continue
        if (now - before) % HOUR or abs(now - before) > HOUR:
            return "it steps in whole hours, from which other shifts leave it beside the hour"
        if (
            min(at + before, at + now) % (24 * HOUR) // HOUR in (23, 0)
            or max(at + before, at + now) % (24 * HOUR) < HOUR
        ):
            return "it resets the clock to midnight, which a change at midnight skips or repeats"
        if now < before and at <= seconds_of(after) < at + before - now:
            return "asked inside the second pass of a repeated hour it answers the past"
    return None


def answered(ask: Callable[[], list[datetime]]) -> list[datetime]:
    """With an end: cronsim can go round for ever."""

    def give_up(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, 2)
    try:
        return ask()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


# R-TIME-1
@given(expressions, near_changes(), offsets)
@settings(max_examples=examples(400))
def test_cronsim_agrees_but_for_the_listed_reasons(expression, change, offset):
    after = change.at + offset
    found = _found(expression, change.zone, after)
    if why_cronsim_differs(change.zone, after, found[-1]) is None:
        assert answered(lambda: of_cronsim(expression, change.zone, after, len(found))) == found


# R-TIME-1
@given(
    expressions,
    st.sampled_from(["UTC", "Asia/Kolkata", "America/Phoenix", "Asia/Tokyo"]),
    st.integers(0, 10**9),
)
@settings(max_examples=examples(400))
def test_all_three_agree_where_clocks_are_never_changed(expression, where, second):
    _, _, day, _, weekday = expression.split()
    after = instant_of(1_600_000_000 + second)
    found = _found(expression, where, after)
    assert answered(lambda: of_cronsim(expression, where, after, len(found))) == found
    if "*/" not in day + weekday:  # croniter ORs the day fields then, where Vixie ANDs them
        assert of_croniter(expression, where, after, len(found)) == found


# R-TIME-4
@given(st.integers(0, 59), st.integers(0, 23), near_changes(), offsets)
@settings(max_examples=examples(200))
def test_croniter_agrees_on_daily_times_that_no_change_touches(minute, hour, change, offset):
    after = change.at + offset
    expression = f"{minute} {hour} * * *"
    rules = zone(change.zone)
    found = _found(expression, change.zone, after)
    near = [
        s for s in rules.starts if seconds_of(after) - 26 * HOUR <= s <= seconds_of(found[-1]) + 26 * HOUR
    ]
    assume(not near)
    assert of_croniter(expression, change.zone, after, len(found)) == found


def _found(expression: str, where: str, after: datetime) -> list[datetime]:
    try:
        found = ours(expression, where, after)
    except SpecError as error:
        assert error.code == "never_fires"
        found = []
    assume(found)
    assume(found[-1].year < 2090)
    return found


# R-TIME-4
@pytest.mark.parametrize(
    ("judge", "expression", "where", "after", "theirs", "right"),
    [
        # cronsim, half hours: 02:00 -> 02:30 leaves it stepping at half past.
        (of_cronsim, "* 16 * * *", "Australia/Lord_Howe", "2015-10-03T12:16:00Z", "2015-10-04T05:30:00Z", "2015-10-04T05:00:00Z"),
        # cronsim, inside the second pass: an answer from before the question.
        (of_cronsim, "55 1,15 * * *", "America/Glace_Bay", "2002-10-27T05:10:00Z", "2002-10-27T04:55:00Z", "2002-10-27T19:55:00Z"),
        # cronsim, midnight skipped: a weekday is that of the nominal time, and */22 recurs, so nothing is made up.
        (of_cronsim, "*/9 */22 * * 0-4", "Asia/Beirut", "2032-03-27T16:48:00Z", "2032-03-27T22:00:00Z", "2032-03-28T19:00:00Z"),
        # cronsim, midnight repeated: it goes round for ever.
        (of_cronsim, "14 */22 26 10 *", "America/Goose_Bay", "2002-10-26T02:00:00Z", None, "2002-10-26T03:14:00Z"),
        # cronsim reads recurring from the spelling: 0-59 is not a star.
        (of_cronsim, "0-59 2 * * *", "America/New_York", "2026-03-08T06:00:00Z", "2026-03-08T07:00:00Z", "2026-03-09T06:00:00Z"),
        # croniter fires a daily job in both passes of a repeated hour.
        (of_croniter, "30 1 * * *", "America/New_York", "2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z", "2026-11-02T06:30:00Z"),
        # croniter reads a range of one value as every value.
        (of_croniter, "10-10 5 * * *", "UTC", "2026-11-19T05:00:00Z", "2026-11-19T05:01:00Z", "2026-11-19T05:10:00Z"),
        # croniter ORs the day fields although one begins with a star.
        (of_croniter, "0 0 */2 * MON", "UTC", "2026-11-19T05:00:00Z", "2026-11-21T00:00:00Z", "2026-11-23T00:00:00Z"),
    ],
)  # fmt: skip
def test_known_disagreements(judge, expression, where, after, theirs, right):
    asked = parse_instant(after, "after")
    assert ours(expression, where, asked)[0] == parse_instant(right, "right")
    if theirs is None:
        with pytest.raises(TimeoutError):
            answered(lambda: judge(expression, where, asked, ANSWERS))
    else:
        assert judge(expression, where, asked, 1) == [parse_instant(theirs, "theirs")]
