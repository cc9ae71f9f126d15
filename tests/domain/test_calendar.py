from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from detent.domain.calendar import Calendar, DateRange, WeeklyWindow
from detent.domain.instant import seconds_of
from detent.domain.zone import zone
from tests.conftest import examples

BERLIN = zone("Europe/Berlin")
CHRISTMAS = DateRange(date(2026, 12, 24), date(2026, 12, 26))
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


# R-TIME-5
def test_dates_are_those_of_the_calendars_zone():
    calendar = Calendar(BERLIN, ranges=(CHRISTMAS,))
    assert not calendar.excludes(instant("2026-12-23 22:59:59"))
    assert calendar.excludes(instant("2026-12-23 23:00"))
    assert calendar.excludes(instant("2026-12-26 22:59:59"))
    assert not calendar.excludes(instant("2026-12-26 23:00"))
    assert calendar.clear_from(instant("2026-12-25 12:00")) == instant("2026-12-26 23:00")


# R-TIME-5
def test_weekly_windows_may_run_past_midnight():
    friday_night = Calendar(BERLIN, windows=(WeeklyWindow(1 << 5, 22 * 3600, 8 * 3600),))
    assert not friday_night.excludes(instant("2026-11-20 20:59"))
    assert friday_night.excludes(instant("2026-11-20 21:00"))
    assert friday_night.excludes(instant("2026-11-21 04:59"))
    assert not friday_night.excludes(instant("2026-11-21 05:00"))
    assert not friday_night.excludes(instant("2026-11-21 21:00"))


weekly = st.builds(
    WeeklyWindow,
    st.integers(1, 127),
    st.integers(0, 95).map(lambda n: n * 900),
    st.integers(1, 96).map(lambda n: n * 900),
)
ranges = st.builds(
    lambda n, length: DateRange(
        date(2026, 10, 20) + timedelta(n), date(2026, 10, 20) + timedelta(n + length)
    ),
    st.integers(0, 20),
    st.integers(0, 3),
)


def _by_hand(windows: list[WeeklyWindow], dates: list[DateRange], wall: datetime) -> bool:
    """What the words say, window by window; today's and what yesterday's leave over."""
    midnight = wall.replace(hour=0, minute=0)
    begins = [
        (midnight - back * timedelta(days=1) + timedelta(seconds=w.start), w)
        for w in windows
        for back in (0, 1)
        if w.weekdays >> (wall.isoweekday() - back) % 7 & 1
    ]
    hit = any(begin <= wall < begin + timedelta(seconds=w.length) for begin, w in begins)
    return hit or any(r.first <= wall.date() <= r.last for r in dates)


# R-TIME-5
@given(
    st.lists(weekly, max_size=6),
    st.lists(ranges, max_size=3),
    st.sampled_from(["Europe/Berlin", "UTC", "Australia/Lord_Howe"]),
)
@settings(max_examples=examples(60))
def test_intervals_are_exactly_the_excluded_instants(windows, dates, where):
    """Across the change of 25 October, quarter hour by quarter hour."""
    calendar = Calendar(zone(where), tuple(sorted(dates)), tuple(windows))
    start, end = instant("2026-10-18 00:07"), instant("2026-11-08 00:07")
    parts = list(calendar.intervals(start, end))
    assert all(a < b for a, b in parts)
    assert all(parts[n][1] <= parts[n + 1][0] for n in range(len(parts) - 1))
    spot = start
    while spot < end:
        excluded = calendar.excludes(spot)
        wall = spot + timedelta(seconds=calendar.zone.offset_at(seconds_of(spot)))
        assert excluded == _by_hand(windows, dates, wall)
        assert excluded == any(a <= spot < b for a, b in parts)
        if excluded:
            clear = calendar.clear_from(spot)
            assert clear > spot
            between = [spot + n * MINUTE for n in range(0, int((clear - spot) / MINUTE), 7)]
            assert all(calendar.excludes(i) for i in between[:50])
        spot += 15 * MINUTE
