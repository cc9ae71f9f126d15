"""From a cursor to promises and omissions, against a planner that looks at every slot."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import settings as examples_of
from hypothesis import strategies as st

from detent.domain.plan import (
    MAX_COUNTED,
    MAX_PROMISES,
    Cadence,
    Kind,
    Misfire,
    MisfirePolicy,
    Plan,
    Promise,
    Reason,
    plan,
)
from detent.domain.spec import read_triggers
from detent.domain.spread import Spread
from detent.domain.window import window, withheld
from tests.conftest import examples

START = datetime(2026, 3, 1, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
NEVER = datetime(2199, 1, 1, tzinfo=UTC)


def cadence(*specs, max_firings=None, **misfire):
    return Cadence(
        triggers=read_triggers(list(specs), max_firings=max_firings),
        spread=Spread(),
        misfire=Misfire(**misfire),
    )


def times(instants):
    return [f"{instant:%H:%M}" for instant in instants]


def slots(found: Plan):
    return times(promise.slot for promise in found.promises)


def omissions(found: Plan):
    return [(f"{o.start:%H:%M}", f"{o.end:%H:%M}", o.reason.value, o.slots) for o in found.omissions]


HOURLY = {"cron": "0 * * * *"}


# R-PLAN-6
def test_slots_up_to_the_look_ahead_are_promised_and_the_cursor_stands_on_the_next():
    found = plan(cadence(HOURLY), START + HOUR, 0, as_of=START + HOUR, until=START + 3 * HOUR)
    assert found == Plan([Promise(START + n * HOUR, Kind.SLOT) for n in (1, 2, 3)], [], START + 4 * HOUR)


# R-PLAN-7
@pytest.mark.parametrize(
    ("misfire", "fires", "omitted"),
    [
        ({}, ["05:00"], [("01:00", "05:00", "misfire", 4)]),
        ({"policy": MisfirePolicy.SKIP}, [], [("01:00", "05:30", "misfire", 5)]),
        ({"policy": MisfirePolicy.FIRE_ALL}, ["01:00", "02:00", "03:00", "04:00", "05:00"], []),
        ({"policy": MisfirePolicy.FIRE_ALL, "cap": 2}, ["04:00", "05:00"], [("01:00", "04:00", "misfire", 3)]),
        ({"policy": MisfirePolicy.FIRE_ALL, "grace": 2 * HOUR}, ["04:00", "05:00"], [("01:00", "03:30", "grace", 3)]),
        ({"grace": MINUTE}, [], [("01:00", "05:29", "grace", 5)]),
        ({"grace": timedelta()}, [], [("01:00", "05:30", "grace", 5)]),
        ({"policy": MisfirePolicy.SKIP, "grace": 2 * HOUR}, [],
         [("01:00", "03:30", "grace", 3), ("03:30", "05:30", "misfire", 2)]),
    ],
)  # fmt: skip
def test_what_becomes_of_slots_that_passed_unplanned(misfire, fires, omitted):
    as_of = START + 5 * HOUR + 30 * MINUTE
    found = plan(cadence(HOURLY, **misfire), START + HOUR, 0, as_of=as_of, until=as_of)
    assert slots(found) == fires
    assert {promise.kind for promise in found.promises} <= {Kind.CATCH_UP}
    assert omissions(found) == omitted
    assert found.next_at == START + 6 * HOUR


def test_a_grace_reaches_as_far_as_a_slot_that_is_exactly_so_old():
    found = plan(cadence(HOURLY, grace=HOUR), START + HOUR, 0, as_of=START + 2 * HOUR, until=START + 2 * HOUR)
    assert slots(found) == ["01:00", "02:00"]


# R-TIME-5
def test_what_the_calendar_excludes_is_an_omission_whether_it_was_seen_in_time_or_not():
    spec = HOURLY | {"exclude": {"weekly": [{"from": "02:00", "to": "04:00"}]}}
    in_time = plan(cadence(spec), START + HOUR, 0, as_of=START, until=START + 5 * HOUR)
    assert (slots(in_time), omissions(in_time)) == (
        ["01:00", "04:00", "05:00"],
        [("02:00", "03:00", "excluded", 2)],
    )
    late = plan(cadence(spec), START + 2 * HOUR, 0, as_of=START + 3.5 * HOUR, until=START + 3.5 * HOUR)
    assert (slots(late), omissions(late)) == ([], [("02:00", "03:00", "excluded", 2)])
    all_late = plan(
        cadence(spec, policy=MisfirePolicy.FIRE_ALL),
        START + HOUR,
        0,
        as_of=START + 4.5 * HOUR,
        until=START + 4.5 * HOUR,
    )
    assert (slots(all_late), omissions(all_late)) == (["01:00", "04:00"], [("02:00", "03:00", "excluded", 2)])


def test_the_cursor_waits_for_an_excluded_slot_too_so_that_it_is_recorded_in_its_time():
    spec = HOURLY | {"exclude": {"weekly": [{"from": "02:00", "to": "04:00"}]}}
    found = plan(cadence(spec), START + HOUR, 0, as_of=START + HOUR, until=START + HOUR)
    assert found.next_at == START + 2 * HOUR


def test_excluded_slots_at_the_very_end_are_recorded_too():
    """Nothing is to fire after them, but they are slots, and somebody may ask why they didn't."""
    night = {"exclude": {"weekly": [{"from": "02:00", "to": "12:00"}]}}
    spec = HOURLY | night | {"end_at": "2026-03-01T04:00:00Z"}
    found = plan(cadence(spec), START + HOUR, 0, as_of=START + HOUR, until=START + HOUR)
    assert (slots(found), found.next_at) == (["01:00"], START + 2 * HOUR)
    rest = plan(cadence(spec), START + 2 * HOUR, 1, as_of=START + HOUR, until=START + 5 * HOUR)
    assert (slots(rest), omissions(rest), rest.next_at) == ([], [("02:00", "03:00", "excluded", 2)], None)


def test_after_the_last_firing_allowed_there_are_no_slots_to_be_excluded():
    spec = HOURLY | {"exclude": {"weekly": [{"from": "02:00", "to": "12:00"}]}}
    limited = cadence(spec, max_firings=1)
    assert plan(limited, START + HOUR, 0, as_of=START + HOUR, until=START + HOUR).next_at is None


def test_a_look_back_from_behind_the_cursor_does_not_pull_it_back():
    """A command accounts for the past; the planner has been further already, over excluded slots, too."""
    spec = HOURLY | {"exclude": {"weekly": [{"from": "02:00", "to": "04:00"}]}}
    ahead = START + 5 * HOUR
    assert plan(cadence(spec), ahead, 0, as_of=START + HOUR, until=START + HOUR) == Plan([], [], ahead)


# R-TIME-5
def test_a_limit_counts_firings_whether_late_or_fresh_and_then_there_is_nothing_more():
    limited = cadence(HOURLY, max_firings=3, policy=MisfirePolicy.FIRE_ALL)
    late = plan(limited, START + HOUR, 1, as_of=START + 5 * HOUR, until=START + 9 * HOUR)
    assert slots(late) == ["03:00", "04:00"]
    assert omissions(late) == [("01:00", "03:00", "misfire", 2)]
    assert late.next_at is None
    assert plan(limited, START + 6 * HOUR, 3, as_of=START + 6 * HOUR, until=START + 9 * HOUR) == Plan(
        [], [], None
    )
    assert plan(limited, START + 6 * HOUR, 7, as_of=START + 6 * HOUR, until=START + 9 * HOUR) == Plan(
        [], [], None
    )


# R-PLAN-8
def test_one_schedule_promises_a_bounded_number_at_once_and_goes_on_from_there():
    quick = cadence({"every": "10ms", "start_at": "2026-03-01T00:00:00Z"})
    cursor, seen = START, []
    while cursor is not None and cursor <= START + 30 * SECOND:
        found = plan(quick, cursor, 0, as_of=START, until=START + 30 * SECOND)
        assert len(found.promises) <= MAX_PROMISES
        seen += [promise.slot for promise in found.promises]
        cursor = found.next_at
    assert len(seen) == len(set(seen)) == 3_001
    assert window(quick, START, 0, as_of=START, ahead=30 * SECOND).promises == [
        Promise(s, Kind.SLOT) for s in seen
    ]


# R-PLAN-7
def test_a_year_of_seconds_that_nobody_planned_is_not_walked():
    every_second = cadence({"cron": "* * * * * *"}, policy=MisfirePolicy.FIRE_ALL, cap=3)
    as_of = START + timedelta(days=365)
    found = plan(every_second, START, 0, as_of=as_of, until=as_of)
    assert len(found.promises) == 4
    assert [omission.reason for omission in found.omissions] == [Reason.GRACE, Reason.MISFIRE]
    assert sum(omission.slots for omission in found.omissions) == 365 * 86_400 - 3


def test_slots_of_several_triggers_are_not_counted_when_there_are_many():
    both = cadence({"cron": "* * * * * *"}, {"cron": "*/2 * * * * *"}, policy=MisfirePolicy.SKIP)
    found = plan(both, START, 0, as_of=START + HOUR, until=START + HOUR)
    assert [(omission.reason, omission.slots) for omission in found.omissions] == [(Reason.MISFIRE, None)]


def test_a_range_without_slots_is_no_omission():
    assert withheld(cadence(HOURLY), START + MINUTE, START + 2 * MINUTE, Reason.PAUSED).omissions == []
    assert withheld(cadence(HOURLY), START, START + MINUTE, Reason.PAUSED).omissions[0].slots == 1


SPECS = st.lists(
    st.one_of(
        st.sampled_from(["* * * * *", "*/7 * * * *", "0 * * * *", "30 2 * * *", "*/20 * * * * *", "0 9-17 * * MON-FRI"]).map(
            lambda text: {"cron": text, "timezone": "America/New_York"}
        ),
        st.integers(1, 400).map(lambda n: {"every": f"{n}m", "start_at": "2026-03-07T00:00:17Z"}),
        st.integers(0, 2_000).map(lambda n: {"at": (START + timedelta(days=6, minutes=n)).isoformat()}),
    ),
    min_size=1, max_size=3,
)  # fmt: skip
EXCLUDED = st.sampled_from(
    [
        None,
        None,
        {"weekly": [{"from": "01:00", "to": "05:00"}]},
        {"dates": ["2026-03-08"]},
        {"weekly": [{"days": "SAT"}]},
    ]
)


class Situation(NamedTuple):
    """Drawn as plain values: a cadence is long when it is shown."""

    specs: list[dict[str, object]]
    misfire: dict[str, Any]
    fired: int
    begin: timedelta
    as_of: timedelta
    look: timedelta

    def laid_out(self):
        """Cadence, cursor, fired, as_of, until."""
        made = cadence(*self.specs, **self.misfire)
        begin = START + timedelta(days=6) + self.begin
        cursor = next((slot.at for slot in made.triggers.slots(begin, NEVER)), begin)
        as_of = cursor + self.as_of
        return made, cursor, self.fired, as_of, as_of + self.look


@st.composite
def situations(draw):
    exclude = draw(EXCLUDED)
    return Situation(
        specs=[spec if exclude is None else spec | {"exclude": exclude} for spec in draw(SPECS)],
        misfire={
            "max_firings": draw(st.sampled_from([None, None, 1, 3, 20])), "policy": draw(st.sampled_from(MisfirePolicy)),
            "cap": draw(st.integers(1, 12)), "grace": timedelta(minutes=draw(st.integers(0, 3_000))),
        },
        fired=draw(st.integers(0, 4)),
        begin=timedelta(minutes=draw(st.integers(0, 2_880)), milliseconds=draw(st.integers(0, 60_000))),
        as_of=timedelta(seconds=draw(st.integers(-30, 20_000)), microseconds=draw(st.integers(0, 999_999))),
        look=timedelta(seconds=draw(st.integers(0, 7_200))),
    )  # fmt: skip


# R-PLAN-5, R-PLAN-7
@examples_of(max_examples=examples(150))
@given(situations())
def test_every_slot_before_the_new_cursor_is_a_promise_or_lies_in_an_omission(situation):
    made, cursor, fired, as_of, until = situation.laid_out()
    triggers, misfire = made.triggers, made.misfire
    found = plan(made, cursor, fired, as_of=as_of, until=until)
    left = MAX_PROMISES if triggers.max_firings is None else max(0, triggers.max_firings - fired)
    end = found.next_at or max(cursor, until) + timedelta(milliseconds=1)
    assert end >= cursor
    every = list(triggers.slots(cursor, end))
    plain = [slot.at for slot in every if not slot.excluded]
    passed = [at for at in plain if at < as_of]
    young = [at for at in passed if at >= as_of - misfire.grace]
    most = {MisfirePolicy.SKIP: 0, MisfirePolicy.FIRE_LATEST: 1, MisfirePolicy.FIRE_ALL: misfire.cap}[
        misfire.policy
    ]
    late = young[max(0, len(young) - min(most, left)) :]
    fresh = [at for at in plain if as_of <= at <= until][: left - len(late)]
    assert found.promises == [
        *(Promise(at, Kind.CATCH_UP) for at in late), *(Promise(at, Kind.SLOT) for at in fresh),
    ]  # fmt: skip
    promised = {promise.slot for promise in found.promises}
    used_up = len(promised) >= left
    for slot in every:
        around = [o for o in found.omissions if o.start <= slot.at < o.end]
        assert len(around) + (slot.at in promised) == 1 or (used_up and slot.at >= as_of), slot
        if around and slot.at < as_of and around[0].reason is Reason.GRACE:
            assert slot.at < as_of - misfire.grace
        if slot.excluded and slot.at >= as_of and around:
            assert around[0].reason is Reason.EXCLUDED
    for omission in found.omissions:
        within = [slot for slot in every if omission.start <= slot.at < omission.end]
        asked_for = omission.reason is Reason.EXCLUDED
        counted = sum(slot.excluded is asked_for for slot in within)
        assert counted > 0
        assert omission.slots == counted or (omission.slots is None and len(within) > MAX_COUNTED / 3)
    assert found.next_at is None or found.next_at > min(until, as_of) or used_up
    if not used_up and found.next_at is not None:
        assert (
            found.next_at
            == next(
                triggers.slots(max(until, cursor - timedelta.resolution) + timedelta.resolution, NEVER)
            ).at
        )


@examples_of(max_examples=examples(60))
@given(situations(), st.lists(st.integers(1, 5_000), min_size=1, max_size=6))
def test_however_often_it_is_planned_in_time_the_promises_are_the_same(situation, steps):
    """In small looks or in one: nothing is late if the look-ahead is kept."""
    made, cursor, fired, _, _ = situation.laid_out()
    until, at, seen, counted = cursor, cursor, [], fired
    for step in steps:
        until += timedelta(seconds=step)
        if at is None or at > until:
            continue
        found = plan(made, at, counted, as_of=cursor, until=until)
        seen += found.promises
        counted += len(found.promises)
        at = found.next_at
    assert seen == plan(made, cursor, fired, as_of=cursor, until=until).promises[: len(seen)]
    assert len(seen) >= min(MAX_PROMISES, len(plan(made, cursor, fired, as_of=cursor, until=until).promises))
