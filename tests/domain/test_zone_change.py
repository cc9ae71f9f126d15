"""Zone rules that change, and the schedules whose slots move with them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from detent.domain.plan import Cadence, Misfire
from detent.domain.spec import read_triggers
from detent.domain.spread import Spread
from detent.domain.zone import Zone, zone
from detent.domain.zone_change import differences, first_move, from_spans, spans, under, zones_of

BEGIN = datetime(2026, 6, 1, tzinfo=UTC)
WINTER = datetime(2026, 11, 1, 9, tzinfo=UTC)
"""When Vancouver used to set its clocks back, and doesn't any more."""


def second(instant: datetime) -> int:
    return int(instant.timestamp())


def with_winters(name: str) -> Zone:
    """The zone as it was before its winter time was given up: an hour behind from each November to March."""
    starts, offsets = [-(1 << 62)], [-7 * 3600]
    for year in range(2026, 2040):
        november, march = datetime(year, 11, 1, 9, tzinfo=UTC), datetime(year + 1, 3, 10, 10, tzinfo=UTC)
        starts += [second(november), second(march)]
        offsets += [-8 * 3600, -7 * 3600]
    return Zone(name, tuple(starts), tuple(offsets))


def always_summer(name: str) -> Zone:
    return Zone(name, (-(1 << 62),), (-7 * 3600,))


OLD, NEW = with_winters("America/Vancouver"), always_summer("America/Vancouver")


def cadence(*specs):
    return Cadence(
        triggers=read_triggers([{"timezone": "America/Vancouver", **spec} for spec in specs]),
        spread=Spread(),
        misfire=Misfire(),
    )


def move_of(*specs, old=OLD, new=NEW, begin=BEGIN):
    read = cadence(*specs)
    return first_move(under(read, {old.name: old}), under(read, {new.name: new}), begin)


def test_what_differs_is_found_and_nothing_else():
    stretches = list(differences(OLD, NEW, BEGIN))
    assert [begin for begin, _ in stretches] == [second(WINTER), second(WINTER.replace(year=2027))]
    assert list(differences(OLD, OLD, BEGIN)) == []


def test_rules_that_are_written_down_say_the_same_for_years():
    for name in ("America/Vancouver", "Europe/Berlin", "UTC", "Australia/Lord_Howe", "Africa/Casablanca"):
        original = zone(name)
        again = from_spans(name, spans(original, BEGIN))
        assert list(differences(original, again, BEGIN)) == []
        assert list(differences(again, original, BEGIN + timedelta(days=8 * 365))) == []


@pytest.mark.parametrize(
    ("cron", "before", "after"),
    [
        ("0 9 * * *", "2026-11-01T17:00", "2026-11-01T16:00"),
        ("0 9 * * MON", "2026-11-02T17:00", "2026-11-02T16:00"),
        ("0 9 1 * *", "2026-11-01T17:00", "2026-11-01T16:00"),
        ("0 9 25 12 *", "2026-12-25T17:00", "2026-12-25T16:00"),
        ("30 1 * * *", "2026-11-02T09:30", "2026-11-02T08:30"),
        ("*/5 9-17 * * MON-FRI", "2026-11-02T17:00", "2026-11-02T16:00"),
        ("* * * * MON-SAT", None, None),
    ],
)
def test_the_first_slot_that_moves(cron, before, after):
    move = move_of({"cron": cron})
    assert move is not None
    if before:
        assert move == tuple(datetime.fromisoformat(f"{at}+00:00") for at in (before, after))


@pytest.mark.parametrize("cron", ["0 * * * *", "*/5 * * * *", "* * * * * *", "0 9 * 7 *", "0 9 4 JUL *"])
def test_what_fires_every_hour_or_in_summer_only_does_not_move(cron):
    assert move_of({"cron": cron}) is None


def test_elapsed_time_and_instants_do_not_move():
    every = {"every": "10m", "start_at": "2026-01-01T00:00:00Z"}
    at = {"at": "2026-12-24T12:00:00Z"}
    assert move_of(every, at) is None
    assert zones_of(cadence(every, at).triggers) == set()


def test_an_exclusion_calendar_moves_what_it_lets_through():
    spec = {"cron": "0 * * * *", "timezone": "UTC",
            "exclude": {"timezone": "America/Vancouver", "weekly": [{"from": "09:00", "to": "10:00"}]}}  # fmt: skip
    move = move_of(spec)
    assert move is not None
    assert move.before != move.after


def test_a_date_that_is_put_off_by_some_weeks_moves_what_lies_between():
    """As when a country begins its winter a week later."""
    later = Zone(
        OLD.name, tuple(s + (7 * 86_400 if s == second(WINTER) else 0) for s in OLD.starts), OLD.offsets
    )
    assert move_of({"cron": "0 9 * * *"}, new=later) is not None
    assert move_of({"cron": "0 9 * * WED"}, new=later) is not None
    assert move_of({"cron": "0 9 15 * *"}, new=later) is None


def test_half_an_hour_moves_what_fires_every_hour():
    other = Zone(OLD.name, OLD.starts, tuple(o + 1800 if o == -8 * 3600 else o for o in OLD.offsets))
    assert move_of({"cron": "0 * * * *"}, new=other) is not None
    assert move_of({"cron": "0,30 * * * *"}, new=other) is None


def test_what_lies_in_the_past_has_not_moved():
    assert move_of({"cron": "0 9 * * *"}, begin=datetime(2045, 1, 1, tzinfo=UTC)) is None
