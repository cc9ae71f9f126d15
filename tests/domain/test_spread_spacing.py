from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from detent.domain.errors import SpecError
from detent.domain.spacing import refuse_too_often, shortest_gap
from detent.domain.spec import parse_triggers
from detent.domain.spread import Spread
from detent.domain.stable import stable_hash
from detent.domain.trigger import Trigger, Triggers

NOW = datetime(2026, 11, 19, 8, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


# R-TIME-6
def test_jitter_is_stable_whole_milliseconds_and_within_its_bound():
    spread = Spread(jitter=MINUTE)
    dues = [spread.due_at(f"schedule-{n}", NOW) for n in range(5_000)]
    assert dues == [spread.due_at(f"schedule-{n}", NOW) for n in range(5_000)]
    assert all(timedelta() <= due - NOW < MINUTE and due.microsecond % 1000 == 0 for due in dues)
    tenths = Counter((due - NOW) // timedelta(seconds=6) for due in dues)
    assert len(tenths) == 10
    assert max(tenths.values()) < 1.25 * min(tenths.values())


# R-TIME-6
def test_jitter_differs_from_slot_to_slot_and_never_moves_the_slot_itself():
    spread = Spread(jitter=MINUTE)
    assert len({spread.due_at("a", NOW + n * MINUTE) - (NOW + n * MINUTE) for n in range(50)}) > 40
    assert Spread().due_at("a", NOW) == NOW
    assert Spread().in_window("a", NOW) == NOW


# R-TIME-6
def test_a_window_is_closed_and_filled_evenly():
    spread = Spread(window=timedelta(milliseconds=3))
    places = Counter(spread.in_window(f"schedule-{n}", NOW) - NOW for n in range(4_000))
    assert set(places) == {timedelta(milliseconds=n) for n in range(4)}
    assert max(places.values()) < 1.2 * min(places.values())


def test_the_hash_is_the_same_on_every_version_and_platform():
    assert stable_hash("schedule", "slot") == 13_539_552_534_807_690_270
    assert stable_hash("a", "b") != stable_hash("a\0b", "")
    assert stable_hash("\ud800") != stable_hash("")


def test_a_spread_must_be_shorter_than_the_distance_between_slots():
    Spread(jitter=MINUTE, window=MINUTE).refuse_beyond(3 * MINUTE)
    with pytest.raises(SpecError, match="shorter than the distance"):
        Spread(jitter=MINUTE, window=MINUTE).refuse_beyond(2 * MINUTE)


# R-TIME-7
@pytest.mark.parametrize(
    ("specs", "seconds"),
    [
        ([{"cron": "* * * * *"}], 60),
        ([{"cron": "*/30 * * * * *"}], 30),
        ([{"cron": "0 0 * * *"}], 86_400),
        ([{"every": "45s"}], 45),
        ([{"every": "250ms"}], 0.25),
        ([{"rrule": "FREQ=SECONDLY;INTERVAL=20"}], 20),
        ([{"cron": "0 * * * *"}, {"cron": "1 * * * *"}], 60),
        ([{"cron": "0 * * * *"}, {"cron": "5 0 * * * *"}], 5),
        ([{"cron": "0 * * * *"}, {"every": "1h", "start_at": "2026-11-19T08:00:30Z"}], 30),
        ([{"at": "in 1h"}], 86_400),
    ],
)
def test_the_shortest_gap_of_a_schedule(specs, seconds):
    gap = shortest_gap(parse_triggers(specs, as_of=NOW), NOW)
    if "at" in specs[0]:
        assert gap > timedelta(days=365)
    else:
        assert gap == timedelta(seconds=seconds)


# R-TIME-7
def test_firing_more_often_than_the_tenants_minimum_is_refused():
    refuse_too_often(parse_triggers([{"cron": "* * * * *"}], as_of=NOW), MINUTE, NOW)
    with pytest.raises(
        SpecError, match="fires every 30 seconds, but this tenant's minimum interval is 1 minute"
    ):
        refuse_too_often(parse_triggers([{"cron": "*/30 * * * * *"}], as_of=NOW), MINUTE, NOW)
    refuse_too_often(parse_triggers([{"cron": "*/30 * * * * *"}], as_of=NOW), timedelta(seconds=1), NOW)


class Asked:
    """Fires at one second of each minute, and counts how often it is asked."""

    def __init__(self, second: int) -> None:
        self.second, self.times = second, 0

    def next(self, after: datetime) -> datetime:
        self.times += 1
        return after.replace(second=self.second) + MINUTE

    def shortest_gap(self) -> timedelta:
        return MINUTE


# R-TIME-7
def test_a_union_is_not_asked_trigger_by_trigger_for_each_of_its_slots():
    rules = [Asked(second) for second in range(0, 60, 2)]
    together = Triggers(tuple(Trigger(rule=rule) for rule in rules))
    assert shortest_gap(together, NOW) == timedelta(seconds=2)
    assert sum(rule.times for rule in rules) < 2_000
