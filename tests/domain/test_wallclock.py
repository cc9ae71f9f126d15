"""Clock changes: the rule by example. The glossary's table is checked by tests/test_docs.py."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from detent.domain.cron import parse_cron
from detent.domain.instant import instant_of, parse_instant
from detent.domain.limits import HORIZON, LATEST
from detent.domain.wallclock import Fold, Gap, Origin, WallClock
from detent.domain.zone import zone


def rule(
    expression: str, where: str = "America/New_York", gap: str = "at_transition", fold: str = "first"
) -> WallClock:
    return WallClock(parse_cron(expression), zone(where), Gap(gap), Fold(fold))


def upcoming(ours: WallClock, after: str, count: int) -> list[str]:
    slot, found = parse_instant(after, "after"), []
    for _ in range(count):
        slot = ours.next(slot)
        found.append(f"{slot:%d %H:%M}" + (f":{slot:%S}" if slot.second else ""))
    return found


# R-TIME-4
@pytest.mark.parametrize(
    ("expression", "gap", "expected"),
    [
        # On 8 March 2026 New York's clocks go from 02:00 to 03:00, at 07:00 UTC.
        ("30 2 * * *", "at_transition", ["07 07:30", "08 07:00", "09 06:30"]),
        ("30 2 * * *", "shift", ["07 07:30", "08 07:30", "09 06:30"]),
        ("30 2 * * *", "skip", ["07 07:30", "09 06:30", "10 06:30"]),
        (
            "0,15,30,45 2 * * *",
            "at_transition",
            ["07 07:00", "07 07:15", "07 07:30", "07 07:45", "08 07:00", "09 06:00"],
        ),
        ("30 2,3 * * *", "at_transition", ["07 07:30", "07 08:30", "08 07:00", "08 07:30", "09 06:30"]),
        ("30 2,3 * * *", "shift", ["07 07:30", "07 08:30", "08 07:30", "09 06:30", "09 07:30"]),
        (
            "0,30 2,3 * * *",
            "at_transition",
            ["07 07:00", "07 07:30", "07 08:00", "07 08:30", "08 07:00", "08 07:30"],
        ),
        ("0 3 * * *", "at_transition", ["07 08:00", "08 07:00", "09 07:00"]),
        ("15 10,30 2 * * *", "at_transition", ["07 07:10:15", "07 07:30:15", "08 07:00", "09 06:10:15"]),
        ("* 30 2 * * *", "at_transition", []),
        ("*/20 2 * * *", "at_transition", ["07 07:00", "07 07:20", "07 07:40", "09 06:00"]),  # recurring
        ("30 * * * *", "at_transition", ["07 05:30", "07 06:30", "07 07:30"]),
    ],
)
def test_a_gap(expression, gap, expected):
    assert upcoming(rule(expression, gap=gap), "2026-03-07T05:00:00Z", len(expected)) == expected


# R-TIME-4
@pytest.mark.parametrize(
    ("expression", "fold", "expected"),
    [
        # On 1 November 2026 they go back from 02:00 to 01:00, at 06:00 UTC.
        ("30 1 * * *", "first", ["31 05:30", "01 05:30", "02 06:30"]),
        ("30 1 * * *", "last", ["31 05:30", "01 06:30", "02 06:30"]),
        ("30 1 * * *", "both", ["31 05:30", "01 05:30", "01 06:30", "02 06:30"]),
        ("0 1,2 * * *", "first", ["31 05:00", "31 06:00", "01 05:00", "01 07:00", "02 06:00"]),
        ("0 1,2 * * *", "last", ["31 05:00", "31 06:00", "01 06:00", "01 07:00", "02 06:00"]),
        (
            "*/30 1 * * *",
            "first",
            ["31 05:00", "31 05:30", "01 05:00", "01 05:30", "01 06:00", "01 06:30", "02 06:00"],
        ),
        ("0 * * * *", "first", ["31 04:00", "31 05:00", "31 06:00"]),
    ],
)
def test_a_fold(expression, fold, expected):
    assert upcoming(rule(expression, fold=fold), "2026-10-31T03:59:59Z", len(expected)) == expected


# R-TIME-4
def test_asked_inside_the_second_pass_the_answer_is_strictly_later():
    ours = rule("30 1 * * *")
    for minute in range(120):
        after = datetime(2026, 11, 1, 5, 0, tzinfo=UTC) + timedelta(minutes=minute)
        slot = ours.next(after)
        assert slot > after
        assert slot == datetime(2026, 11, 1 if minute < 30 else 2, 5 if minute < 30 else 6, 30, tzinfo=UTC)


# R-TIME-4
@pytest.mark.parametrize(
    ("where", "expression", "after", "expected"),
    [
        # Lord Howe moves by half an hour: 02:00 -> 02:30, and 02:00 -> 01:30.
        ("Australia/Lord_Howe", "15 2 * * *", "2026-10-02T00:00:00Z", ["02 15:45", "03 15:30", "04 15:15"]),
        ("Australia/Lord_Howe", "45 1 * * *", "2027-04-02T00:00:00Z", ["02 14:45", "03 14:45", "04 15:15"]),
        ("Australia/Lord_Howe", "0 * * * *", "2026-10-03T14:00:00Z", ["03 14:30", "03 16:00", "03 17:00"]),
        # Troll moves by two hours.
        ("Antarctica/Troll", "30 1,2 * * *", "2027-03-27T12:00:00Z", ["28 01:00", "28 23:30", "29 00:30"]),
        # In Havana and Beirut midnight itself is skipped: the day keeps its date.
        ("America/Havana", "0 0 * * *", "2025-03-08T12:00:00Z", ["09 05:00", "10 04:00"]),
        ("America/Havana", "0 0 9 3 *", "2025-03-08T12:00:00Z", ["09 05:00"]),
        ("Asia/Beirut", "30 0 28 3 *", "2027-03-27T12:00:00Z", ["27 22:00"]),
        # Nuuk skips 23:00 to midnight on 27 March: the firing of that day comes at the next day's first moment.
        ("America/Nuuk", "30 23 27 3 *", "2027-03-27T12:00:00Z", ["28 01:00"]),
        ("America/Nuuk", "30 23 * * SAT", "2027-03-27T12:00:00Z", ["28 01:00"]),
        # Apia had no 30 December 2011.
        ("Pacific/Apia", "0 9 * * *", "2011-12-29T00:00:00Z", ["29 19:00", "30 10:00", "30 19:00"]),
        ("Pacific/Apia", "0 9 30 12 *", "2011-12-29T00:00:00Z", ["30 10:00"]),
        ("Pacific/Apia", "0 9 * * FRI", "2011-12-29T00:00:00Z", ["30 10:00"]),
        # Pyongyang's standard time was put forward by half an hour by law.
        ("Asia/Pyongyang", "45 23 * * *", "2018-05-03T16:00:00Z", ["04 15:00", "05 14:45"]),
    ],
)
def test_the_rule_is_about_wall_clocks_not_about_summer_time(where, expression, after, expected):
    assert upcoming(rule(expression, where), after, len(expected)) == expected


def test_what_a_slot_stands_for():
    def origin(ours: WallClock, slot: str) -> tuple[str, Origin]:
        nominal = ours.nominal(parse_instant(slot, "slot"))
        return f"{instant_of(nominal.wall):%d %H:%M}", nominal.origin

    assert origin(rule("30 2 * * *"), "2026-03-08T07:00:00Z") == ("08 02:30", Origin.GAP)
    assert origin(rule("30 2 * * *", gap="shift"), "2026-03-08T07:30:00Z") == ("08 02:30", Origin.GAP)
    assert origin(rule("30 2,3 * * *"), "2026-03-08T07:30:00Z") == ("08 03:30", Origin.PLAIN)
    assert origin(rule("30 1 * * *"), "2026-11-01T05:30:00Z") == ("01 01:30", Origin.FIRST_PASS)
    assert origin(rule("30 1 * * *", fold="last"), "2026-11-01T06:30:00Z") == ("01 01:30", Origin.LAST_PASS)
    assert origin(rule("*/30 * * * *"), "2026-11-01T06:30:00Z") == ("01 01:30", Origin.LAST_PASS)
    assert origin(rule("30 2 * * *"), "2026-03-09T06:30:00Z") == ("09 02:30", Origin.PLAIN)


def test_next_looks_fifty_years_ahead_and_no_further():
    now = datetime(2026, 11, 19, tzinfo=UTC)
    assert rule("0 0 0 1 1 ? 2075").next(now).year == 2075
    assert rule("0 0 0 1 1 ? 2090").next(now) is None
    assert rule("0 0 0 1 1 ? 2020").next(now) is None
    assert rule("0 0 29 2 *").next(now) - now < HORIZON
    assert rule("* * * * *").next(LATEST) is None
    assert rule("0 0 31 12 *").next(LATEST - timedelta(hours=12)) is None


def test_a_fraction_of_a_second_counts():
    ours = rule("* * * * * *", "UTC")
    now = datetime(2026, 11, 19, 8, 0, tzinfo=UTC)
    assert ours.next(now) == now + timedelta(seconds=1)
    assert ours.next(now - timedelta(microseconds=1)) == now
    assert ours.count(now, now + timedelta(seconds=10)) == 10
    assert ours.count(now + timedelta(microseconds=1), now + timedelta(seconds=10)) == 9


# R-TIME-8
@pytest.mark.parametrize(
    ("expression", "start", "end", "count"),
    [
        ("* * * * * *", "2026-01-01T00:00:00Z", "2036-01-01T00:00:00Z", 315_532_800),
        ("* * * * *", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z", 23 * 60),
        ("* * * * *", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z", 25 * 60),
        ("*/30 1,2 * * *", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z", 6),
        ("30 2 * * *", "2026-01-01T05:00:00Z", "2027-01-01T05:00:00Z", 365),
        ("30 1 * * *", "2026-01-01T05:00:00Z", "2027-01-01T05:00:00Z", 365),
        ("0 9 * * MON-FRI", "2026-01-01T05:00:00Z", "2027-01-01T05:00:00Z", 261),
    ],
)
def test_counting_does_not_walk(expression, start, end, count):
    assert rule(expression).count(parse_instant(start, "start"), parse_instant(end, "end")) == count
