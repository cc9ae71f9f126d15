"""Which days an expression names, against the calendar module; counting; the shortest gap."""

from __future__ import annotations

import calendar
from datetime import date, timedelta
from itertools import islice, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.domain.cron import parse_cron
from detent.domain.errors import SpecError
from tests.conftest import examples
from tests.props.generate import expressions

EPOCH = date(1970, 1, 1)
DAY = 86_400


def days(expression: str, first: date, last: date) -> list[date]:
    cron = parse_cron(expression)
    wall, found = (first - EPOCH).days * DAY, []
    while (wall := cron.next_wall(wall, (last - EPOCH).days * DAY)) is not None:
        found.append(EPOCH + timedelta(days=wall // DAY))
        wall += 1
    return found


def all_months():
    return [(year, month) for year in range(1995, 2035) for month in range(1, 13)]


# R-TIME-3
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 0 L * *", lambda month: month[-1]),
        ("0 0 L-3 * *", lambda month: month[-4]),
        ("0 0 LW * *", lambda month: [d for d in month if d.weekday() < 5][-1]),
        ("0 0 * * 5L", lambda month: [d for d in month if d.weekday() == 4][-1]),
        ("0 0 * * SUNL", lambda month: [d for d in month if d.weekday() == 6][-1]),
        ("0 0 * * 2#1", lambda month: [d for d in month if d.weekday() == 1][0]),
        ("0 0 * * MON#3", lambda month: [d for d in month if d.weekday() == 0][2]),
        ("0 0 * * 7#4", lambda month: [d for d in month if d.weekday() == 6][3]),
        ("0 0 * * FRI#5", lambda month: ([d for d in month if d.weekday() == 4][4:5] or [None])[0]),
        ("0 0 31 * *", lambda month: month[30] if len(month) == 31 else None),
        ("0 0 L-30 * *", lambda month: month[0] if len(month) == 31 else None),
        *[
            (f"0 0 {n}W * *", lambda month, n=n: nearest(month, n) if len(month) >= n else None)
            for n in (1, 2, 15, 28, 29, 30, 31)
        ],
    ],
)
def test_special_days_of_forty_years_of_months(expression, expected):
    months = [[date(y, m, d) for d in range(1, calendar.monthrange(y, m)[1] + 1)] for y, m in all_months()]
    judged = [day for month in months if (day := expected(month)) is not None]
    assert days(expression, date(1995, 1, 1), date(2035, 1, 1)) == judged


def nearest(month: list[date], number: int) -> date:
    """The working day of the month with the least distance; of two, there is only one."""
    working = [d for d in month if d.weekday() < 5]
    return min(working, key=lambda d: abs((d - month[number - 1]).days))


@pytest.mark.parametrize(
    ("expression", "dates"),
    [
        ("0 0 13 * FRI", ["2026-11-06", "2026-11-13", "2026-11-20", "2026-11-27"]),  # either
        ("0 0 */2 * FRI", ["2026-11-13", "2026-11-27"]),  # both: a star begins the field
        ("0 0 13 * */5", ["2026-11-13"]),
        ("0 0 ? * FRI", ["2026-11-06", "2026-11-13", "2026-11-20", "2026-11-27"]),
        ("0 0 13 * ?", ["2026-11-13"]),
        (
            "0 0 1-7 * MON",
            ["2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04", "2026-11-05"]
            + ["2026-11-06", "2026-11-07", "2026-11-09", "2026-11-16", "2026-11-23", "2026-11-30"],
        ),
        ("0 0 1,L * MON#2", ["2026-11-01", "2026-11-09", "2026-11-30"]),
        ("0 0 *,13 * FRI", ["2026-11-06", "2026-11-13", "2026-11-20", "2026-11-27"]),
        ("0 0 1-31 * FRI", [f"2026-11-{d:02}" for d in range(1, 31)]),
    ],
)
def test_the_two_day_fields_are_ored_unless_one_begins_with_a_star(expression, dates):
    assert [str(d) for d in days(expression, date(2026, 11, 1), date(2026, 12, 1))] == dates


def test_leap_days_are_found_across_the_year_2100():
    leaps = days("0 0 29 2 *", date(2088, 1, 1), date(2110, 1, 1))
    assert [d.year for d in leaps] == [2088, 2092, 2096, 2104, 2108]


def test_years_bound_an_expression():
    assert [str(d) for d in days("0 0 0 1 1 ? 2027,2029", date(2020, 1, 1), date(2050, 1, 1))] == [
        "2027-01-01",
        "2029-01-01",
    ]
    assert len(days("0 0 0 1 1 ? *", date(2095, 6, 1), date(2105, 6, 1))) == 10


walls = st.integers(-40 * 366 * DAY, 200 * 365 * DAY)


# R-TIME-8
@given(expressions(with_seconds=True), walls, st.integers(0, 5 * DAY))
@settings(max_examples=examples(200))
def test_counting_is_the_same_as_walking(sets, start, length):
    try:
        cron = parse_cron(sets.text)
    except SpecError:
        return
    wall, walked = start, 0
    while walked < 2_000 and (wall := cron.next_wall(wall, start + length)) is not None:
        walked, wall = walked + 1, wall + 1
    if walked < 2_000:
        assert cron.count_walls(start, start + length) == walked
    middle = start + length // 3
    whole = cron.count_walls(start, start + length)
    assert whole == cron.count_walls(start, middle) + cron.count_walls(middle, start + length)


# R-TIME-7
@given(expressions(with_seconds=True), walls)
@settings(max_examples=examples(100))
def test_no_two_slots_are_closer_than_the_shortest_gap(sets, start):
    try:
        cron = parse_cron(sets.text)
    except SpecError:
        return
    gap = cron.shortest_gap()
    assert all(b - a >= gap for a, b in pairwise(islice(_from(cron, start), 500)))


@pytest.mark.parametrize(
    ("expression", "seconds"),
    [
        ("* * * * * *", 1),
        ("*/10 * * * * *", 10),
        ("0,50 * * * * *", 10),
        ("* * * * *", 60),
        ("*/7 * * * *", 240),
        ("59,0 * * * *", 60),
        ("59 0,1 * * *", 3600),
        ("0,59 3 * * *", 3540),
        ("0 * * * *", 3600),
        ("0 23,0 * * *", 3600),
        ("30 2 * * *", 86_400),
    ],
)
def test_the_shortest_gap_is_exact(expression, seconds):
    assert parse_cron(expression).shortest_gap() == seconds


def _from(cron, wall):
    while (found := cron.next_wall(wall, wall + 400 * DAY)) is not None:
        yield found
        wall = found + 1
