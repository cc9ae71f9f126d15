"""Bounds, exclusions and unions, by example and by law."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.domain.at import At
from detent.domain.calendar import Calendar, DateRange, WeeklyWindow
from detent.domain.cron import parse_cron
from detent.domain.errors import TooManySlots
from detent.domain.every import Every
from detent.domain.limits import MAX_LEAPS
from detent.domain.trigger import Slot, Trigger, Triggers, latest_before
from detent.domain.wallclock import WallClock
from detent.domain.zone import zone
from tests.conftest import examples

START = datetime(2026, 11, 19, 8, 0, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
UTC_ZONE = zone("UTC")


def cron(text: str, where: str = "UTC") -> WallClock:
    return WallClock(parse_cron(text), zone(where))


def days(numbers: str) -> Calendar:
    return Calendar(
        UTC_ZONE, tuple(DateRange(date(2026, 11, int(n)), date(2026, 11, int(n))) for n in numbers.split())
    )


# R-TIME-5
def test_start_is_included_and_end_is_not():
    trigger = Trigger(rule=cron("0 * * * *"), start_at=START, end_at=START + 2 * HOUR)
    assert list(Triggers((trigger,)).upcoming(START - DAY, 9)) == [START, START + HOUR]
    assert trigger.previous(START + DAY) == START + HOUR
    assert trigger.previous(START) is None
    assert trigger.count(START - DAY, START + DAY) == 2
    assert trigger.next(START + HOUR) is None


def test_a_start_far_ahead_is_found():
    far = START + timedelta(days=60 * 365)
    assert Trigger(rule=cron("0 0 * * *"), start_at=far).next(START) == datetime(2086, 11, 5, tzinfo=UTC)


# R-TIME-5
def test_next_skips_excluded_slots_and_slots_marks_them():
    trigger = Trigger(rule=cron("0 9 * * *"), exclude=days("20 21 23"))
    assert list(Triggers((trigger,)).upcoming(START, 3)) == [
        datetime(2026, 11, day, 9, tzinfo=UTC) for day in (19, 22, 24)
    ]
    marked = list(trigger.slots(START, START + 5 * DAY))
    assert [(slot.at.day, slot.excluded) for slot in marked] == [
        (19, False), (20, True), (21, True), (22, False), (23, True),
    ]  # fmt: skip
    assert trigger.count(START, START + 5 * DAY) == 2
    assert trigger.previous(datetime(2026, 11, 22, 9, tzinfo=UTC)) == datetime(2026, 11, 19, 9, tzinfo=UTC)


def test_exclusions_of_intervals_and_one_offs():
    assert Trigger(rule=At(START), exclude=days("19")).next(START - DAY) is None
    hourly = Trigger(rule=Every(HOUR, START), exclude=days("20"))
    assert hourly.next(START + 15 * HOUR) == datetime(2026, 11, 21, tzinfo=UTC)
    assert hourly.previous(datetime(2026, 11, 21, tzinfo=UTC)) == datetime(2026, 11, 19, 23, tzinfo=UTC)
    assert hourly.count(START, START + 3 * DAY) == 72 - 24


# R-TIME-9
def test_a_trigger_whose_every_slot_is_excluded_ends_in_bounded_time():
    never = Calendar(UTC_ZONE, windows=(WeeklyWindow(127, 0, 86_400),))
    nightly = Calendar(UTC_ZONE, windows=(WeeklyWindow(127, 0, 3 * 3600),))
    for trigger in (
        Trigger(rule=cron("* * * * * *"), exclude=never),
        Trigger(rule=cron("*/5 0-2 * * *"), exclude=nightly),
    ):
        begin = time.perf_counter()
        assert trigger.next(START) is None
        assert time.perf_counter() - begin < 2


class Asked:
    """A minute job that counts how often it is asked."""

    def __init__(self) -> None:
        self.minutes, self.times = Every(MINUTE, START), 0

    def next(self, after: datetime) -> datetime | None:
        self.times += 1
        return self.minutes.next(after)

    def count(self, start: datetime, end: datetime) -> int:
        return self.minutes.count(start, end)


def windows(length: int, every: int) -> Calendar:
    """Of every day, `length` seconds from each multiple of `every` seconds on."""
    return Calendar(
        UTC_ZONE, windows=tuple(WeeklyWindow(127, begin, length) for begin in range(0, 86_400, every))
    )


# R-TIME-9
def test_windows_that_touch_are_left_in_one_leap():
    """48 windows that fill the day were leapt over one by one for 50 years: 23 seconds for one request."""
    asked = Asked()
    assert Trigger(rule=asked, exclude=windows(1800, 1800)).next(START) is None
    assert asked.times < 50 * 54  # a leap a week


# R-TIME-9
def test_windows_that_hit_every_slot_and_leave_all_between_end_at_a_bound():
    asked = Asked()
    assert Trigger(rule=asked, exclude=windows(1, 60)).next(START) is None
    assert asked.times <= MAX_LEAPS + 1


# R-TIME-9
def test_counting_around_exclusions_is_bounded(monkeypatch):
    monkeypatch.setattr("detent.domain.trigger.MAX_WALK", 100)
    job = Trigger(rule=Asked(), exclude=windows(1, 3600))
    assert job.count(START, START + 4 * DAY) == 4 * 24 * 59
    with pytest.raises(TooManySlots, match="shorter range"):
        job.count(START, START + 5 * DAY)


# R-TIME-2
def test_triggers_are_a_union_and_common_slots_are_one():
    both = Triggers((Trigger(rule=cron("0 */2 * * *")), Trigger(rule=cron("0 */3 * * *"))))
    midnight = datetime(2026, 11, 19, tzinfo=UTC)
    hours = [slot.at.hour for slot in both.slots(midnight, midnight + DAY)]
    assert hours == sorted(set(range(0, 24, 2)) | set(range(0, 24, 3)))
    assert both.count(midnight, midnight + DAY) == len(hours)
    assert [slot.hour for slot in both.upcoming(midnight, 4)] == [2, 3, 4, 6]
    assert both.previous(midnight) == midnight - 2 * HOUR


# R-TIME-5
def test_a_common_slot_is_excluded_only_if_all_exclude_it():
    both = Triggers((Trigger(rule=cron("0 9 * * *"), exclude=days("20")), Trigger(rule=cron("0 9 20 * *"))))
    noon = datetime(2026, 11, 20, 9, tzinfo=UTC)
    assert list(both.slots(noon, noon + HOUR)) == [Slot(noon, excluded=False)]
    assert both.next(noon - HOUR) == noon


# R-TIME-5
def test_max_firings_counts_firings():
    thrice = Triggers((Trigger(rule=cron("0 9 * * *"), exclude=days("20")),), max_firings=3)
    assert [slot.day for slot in thrice.upcoming(START, 9)] == [19, 21, 22]
    assert [slot.day for slot in thrice.upcoming(START, 9, fired=2)] == [19]
    assert thrice.next(START, fired=3) is None


def test_counting_a_union_is_bounded():
    seconds = Triggers((Trigger(rule=cron("* * * * * *")), Trigger(rule=cron("*/2 * * * * *"))))
    with pytest.raises(TooManySlots, match="shorter range"):
        seconds.count(START, START + 10 * DAY)


rules = st.sampled_from(
    [
        cron("* * * * *", "America/New_York"),
        cron("30 2 * * *", "America/New_York"),
        cron("15,45 */3 * * MON-FRI", "Australia/Lord_Howe"),
        cron("0 0 1 * *"),
        cron("*/13 * * * * *"),
        Every(timedelta(minutes=77), START - 3 * DAY),
        At(START + DAY),
    ]
)
calendars = st.sampled_from(
    [None, days("19 21"), Calendar(UTC_ZONE, windows=(WeeklyWindow(0b1010101, 3600, 30_000),))]
)
moments = st.integers(-20_000, 20_000).map(lambda n: START + n * timedelta(seconds=61))
triggers = st.builds(
    lambda rule, low, span, exclude: Trigger(
        rule=rule,
        start_at=low,
        end_at=None if low is None or span is None else low + span,
        exclude=exclude,
    ),
    rules,
    st.one_of(st.none(), moments),
    st.one_of(st.none(), st.integers(1, 500).map(lambda h: h * HOUR)),
    calendars,
)


# R-TIME-8
@given(triggers, moments, st.integers(1, 40))
@settings(max_examples=examples(150))
def test_next_previous_slots_and_count_tell_the_same_story(trigger, start, hours):
    end = start + hours * HOUR
    walked = list(islice(trigger.slots(start, end), 20_000))
    kept = [slot.at for slot in walked if not slot.excluded]
    assert trigger.count(start, end) == len(kept)
    found, slot = [], trigger.next(start - timedelta.resolution)
    while slot is not None and slot < end:
        found.append(slot)
        slot = trigger.next(slot)
    assert found == kept
    if kept:
        assert trigger.previous(end) == kept[-1]
        assert trigger.previous(kept[-1]) == (kept[-2] if len(kept) > 1 else trigger.previous(kept[0]))
    if trigger.start_at is not None:
        assert all(at >= trigger.start_at for at in found)
    if trigger.end_at is not None:
        assert all(at < trigger.end_at for at in found)


@given(st.lists(triggers, min_size=1, max_size=3), moments, st.integers(1, 20))
@settings(max_examples=examples(60))
def test_a_union_is_the_set_of_all_its_slots(each, start, hours):
    end = start + hours * HOUR
    together = Triggers(tuple(each))
    apart = {slot.at for trigger in each for slot in trigger.slots(start, end) if not slot.excluded}
    assert [slot.at for slot in together.slots(start, end) if not slot.excluded] == sorted(apart)
    assert together.count(start, end) == len(apart)
    assert together.next(start - timedelta.resolution) == min(
        filter(None, (t.next(start - timedelta.resolution) for t in each)), default=None
    )


# R-TIME-8
def test_going_back_over_a_month_of_seconds_asks_a_few_dozen_times():
    asked = 0
    seconds = cron("* * * * * *")

    def ask(after: datetime) -> datetime | None:
        nonlocal asked
        asked += 1
        return seconds.next(after) if after < START - 30 * DAY else None

    assert latest_before(ask, START) == START - 30 * DAY
    assert asked < 100


def test_going_back_ends_at_the_horizon():
    assert Trigger(rule=cron("0 0 0 1 1 ? 2030")).previous(START) is None
    assert Trigger(rule=cron("0 0 0 1 1 ? 1985")).previous(START) == datetime(1985, 1, 1, tzinfo=UTC)
    assert Trigger(rule=cron("0 0 29 2 *")).previous(START) == datetime(2024, 2, 29, tzinfo=UTC)
