from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from detent.domain.every import Every
from detent.domain.lint import lint
from detent.domain.spec import parse_expression
from detent.domain.wallclock import Fold, Gap
from detent.domain.zone import zone

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def findings(
    expression: str, where: str = "UTC", gap: str = "at_transition", fold: str = "first"
) -> list[tuple[str, str]]:
    rule = parse_expression(expression, where=zone(where), gap=Gap(gap), fold=Fold(fold), as_of=NOW)
    return [(finding.code, finding.message) for finding in lint(rule, NOW)]


# R-TIME-4
@pytest.mark.parametrize(
    ("expression", "gap", "fold", "expected"),
    [
        ("30 2 * * *", "at_transition", "first", {
            "2026-03-08: 02:30 does not exist in America/New_York: fires once at 03:00, the first moment after the gap"
            " (2026-03-08T07:00:00Z)",
            "2027-03-14: 02:30 does not exist in America/New_York: fires once at 03:00, the first moment after the gap"
            " (2027-03-14T07:00:00Z)",
        }),
        ("30 2 14 * *", "skip", "first", {"2027-03-14: 02:30 does not exist in America/New_York: does not fire"}),
        ("30 2 14 * *", "shift", "first", {
            "2027-03-14: 02:30 does not exist in America/New_York: fires as much later as the clock is put forward"
        }),
        ("0,20,40,50 2 14 * *", "skip", "first", {
            "2027-03-14: 02:00, 02:20, 02:40 and 1 more do not exist in America/New_York: does not fire"
        }),
        ("30 1 1 * *", "skip", "first", {"2026-11-01: 01:30 comes twice in America/New_York: fires the first time only"}),
        ("30 1 1 * *", "skip", "last", {"2026-11-01: 01:30 comes twice in America/New_York: fires the second time only"}),
        ("30 1 1 * *", "skip", "both", {"2026-11-01: 01:30 comes twice in America/New_York: fires both times"}),
        ("0 */2 8 * *", "skip", "first", {
            "2026-03-08: 02:00 does not exist in America/New_York: nothing is made up, it goes on with the next time"
            " that exists"
        }),
        ("0 * * * *", "skip", "first", set()),
        ("*/5 * * * *", "skip", "first", set()),
        ("0 9 * * *", "skip", "first", set()),
        ("FREQ=HOURLY", "skip", "first", set()),
        ("FREQ=MINUTELY;INTERVAL=20", "skip", "first", set()),
        ("FREQ=HOURLY;BYHOUR=2;BYMONTHDAY=8", "skip", "first", {
            "2026-03-08: 02:00 does not exist in America/New_York: nothing is made up, it goes on with the next time"
            " that exists"
        }),
        ("FREQ=DAILY;BYHOUR=1;BYMINUTE=30;BYMONTH=11", "skip", "first", {
            "2026-11-01: 01:30 comes twice in America/New_York: fires the first time only",
            "2027-11-07: 01:30 comes twice in America/New_York: fires the first time only",
        }),
    ],
)  # fmt: skip
def test_clock_changes_of_the_next_two_years_and_what_happens_on_each(expression, gap, fold, expected):
    found = {
        message
        for code, message in findings(expression, "America/New_York", gap, fold)
        if code.startswith("dst_")
    }
    assert found == expected


def test_half_an_hour_is_noticed_by_hourly_schedules_too():
    messages = [message for _, message in findings("0 * * * *", "Australia/Lord_Howe")]
    assert any("02:00 does not exist" in message for message in messages)


def test_findings_about_a_moment_carry_it():
    rule = parse_expression(
        "30 2 * * *", where=zone("Europe/Berlin"), gap=Gap.SKIP, fold=Fold.FIRST, as_of=NOW
    )
    moments = [finding.at for finding in lint(rule, NOW)]
    assert moments == sorted(moments)
    assert all(NOW <= at < NOW + timedelta(days=731) for at in moments)
    assert len(moments) == 4


@pytest.mark.parametrize(
    ("expression", "code", "message"),
    [
        ("*/7 * * * *", "uneven_step", "the last step is only 4 minutes long"),
        ("*/59 * * * *", "uneven_step", "the last step is only 1 minute long"),
        ("0 */5 * * *", "uneven_step", "the last step is only 4 hours long"),
        ("* 2 * * *", "every_minute_of_an_hour", "for once write 0 2"),
        ("0 0 13 * FRI", "either_day_field", "either is enough"),
        ("0 0 */2 * FRI", "both_day_fields", "must both hold"),
        ("0 0 31 * *", "short_months", "L is the last day of every month"),
        ("0 0 * * 2#1", "sunday_is_zero", "2#1 is a Tuesday"),
    ],
)
def test_what_is_probably_not_meant(expression, code, message):
    found = dict(findings(expression))
    assert message in found[code]


@pytest.mark.parametrize(
    "expression",
    [
        "*/15 * * * *",
        "0 0 1 * *",
        "0 0 15,31 * *",
        "0 0 13 * *",
        "0 0 31 12 *",
        "0 0 30 4,6 *",
        "@daily",
        "@every 5m",
    ],
)
def test_what_is_fine_is_left_alone(expression):
    assert findings(expression) == []


def test_zones_that_surprise():
    assert "old name of America/New_York" in dict(findings("0 9 * * *", "US/Eastern"))["old_zone_name"]
    assert "5 hours behind UTC" in dict(findings("0 9 * * *", "Etc/GMT+5"))["posix_sign"]
    assert "1 hour ahead of UTC" in dict(findings("0 9 * * *", "Etc/GMT-1"))["posix_sign"]
    assert findings("0 9 * * *", "Etc/GMT") == []


def test_an_h_without_an_identity_picks_for_nobody():
    assert dict(findings("H 2 * * *")) == {
        "no_identity": "H picks by the schedule's identity, and none is given here: each schedule has a time of its own"
    }
    rule = parse_expression(
        "H 2 * * *", where=zone("UTC"), gap=Gap.SKIP, fold=Fold.FIRST, as_of=NOW, identity="a"
    )
    assert list(lint(rule, NOW)) == []


def test_elapsed_time_has_nothing_to_lint():
    assert list(lint(Every(timedelta(minutes=7), NOW), NOW)) == []
