"""The dialect: what is read, as what, and what is refused, where and with which advice."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings

from detent.domain.bits import members
from detent.domain.cron import ALIASES, parse_cron
from detent.domain.cron.field import parse_field
from detent.domain.cron.units import MINUTE, WEEKDAY
from detent.domain.errors import SpecError
from tests.conftest import examples
from tests.props.generate import expressions


def values(expression: str, field: str, identity: str = "") -> list[int]:
    return list(members(getattr(parse_cron(expression, identity), field)))


# R-TIME-3
@pytest.mark.parametrize(
    ("expression", "field", "expected"),
    [
        ("* * * * *", "minutes", list(range(60))),
        ("7 * * * *", "minutes", [7]),
        ("07 * * * *", "minutes", [7]),
        ("1,3,5 * * * *", "minutes", [1, 3, 5]),
        ("1-5 * * * *", "minutes", [1, 2, 3, 4, 5]),
        ("10-10 * * * *", "minutes", [10]),
        ("*/15 * * * *", "minutes", [0, 15, 30, 45]),
        ("*/59 * * * *", "minutes", [0, 59]),
        ("5/15 * * * *", "minutes", [5, 20, 35, 50]),
        ("59/15 * * * *", "minutes", [59]),
        ("10-30/10 * * * *", "minutes", [10, 20, 30]),
        ("50-10/5 * * * *", "minutes", [0, 5, 10, 50, 55]),
        ("1,10-12,*/30 * * * *", "minutes", [0, 1, 10, 11, 12, 30]),
        ("0 22-2 * * *", "hours", [0, 1, 2, 22, 23]),
        ("0 22-2/2 * * *", "hours", [0, 2, 22]),
        ("0 0 28-3 * *", "days", [1, 2, 3, 28, 29, 30, 31]),
        ("0 0 1 NOV-FEB *", "months", [1, 2, 11, 12]),
        ("0 0 1 jan,MARCH,dEc *", "months", [1, 3, 12]),
        ("0 0 * * 0", "weekdays", [0]),
        ("0 0 * * 7", "weekdays", [0]),
        ("0 0 * * 0-7", "weekdays", [0, 1, 2, 3, 4, 5, 6]),
        ("0 0 * * 5-7", "weekdays", [0, 5, 6]),
        ("0 0 * * 7-2", "weekdays", [0, 1, 2]),
        ("0 0 * * 1-0", "weekdays", [0, 1, 2, 3, 4, 5, 6]),
        ("0 0 * * MON-FRI", "weekdays", [1, 2, 3, 4, 5]),
        ("0 0 * * FRI-MON", "weekdays", [0, 1, 5, 6]),
        ("0 0 * * sunday,Wednesday", "weekdays", [0, 3]),
        ("0 0 * * MON-5", "weekdays", [1, 2, 3, 4, 5]),
        ("0 0 * * 1/3", "weekdays", [1, 4]),
        ("0 0 ? * MON", "days", list(range(1, 32))),
        ("0 0 1 * ?", "weekdays", [0, 1, 2, 3, 4, 5, 6]),
        ("30 0 0 * * *", "seconds", [30]),
        ("*/20 * * * * *", "seconds", [0, 20, 40]),
        ("* * * * *", "seconds", [0]),
        ("0 0 0 1 1 ? 2027-2030/3", "years", [2027, 2030]),
        ("0 0 0 1 1 * 2027,2030", "years", [2027, 2030]),
        ("  0   0\t1 * *\n", "days", [1]),
    ],
)
def test_fields(expression, field, expected):
    assert values(expression, field) == expected


# R-TIME-3
@pytest.mark.parametrize("alias", [*ALIASES, "@Daily", "@HOURLY", " @yearly "])
def test_aliases_are_the_fields_they_stand_for(alias):
    assert parse_cron(alias) == parse_cron(ALIASES[alias.strip().lower()])


# R-TIME-3
@pytest.mark.parametrize(
    ("expression", "field", "low", "high", "count"),
    [
        ("H * * * *", "minutes", 0, 59, 1),
        ("0 H * * *", "hours", 0, 23, 1),
        ("0 0 H * *", "days", 1, 28, 1),
        ("0 0 1 H *", "months", 1, 12, 1),
        ("0 0 * * H", "weekdays", 0, 6, 1),
        ("H 0 0 * * *", "seconds", 0, 59, 1),
        ("H(0-29) * * * *", "minutes", 0, 29, 1),
        ("h(10-19) * * * *", "minutes", 10, 19, 1),
        ("H/15 * * * *", "minutes", 0, 59, 4),
        ("H(0-29)/10 * * * *", "minutes", 0, 29, 3),
        ("0 H/8 * * *", "hours", 0, 23, 3),
    ],
)
def test_h_picks_the_same_values_for_the_same_identity_and_spreads_others(
    expression, field, low, high, count
):
    picks = [values(expression, field, f"schedule-{n}") for n in range(1000)]
    assert picks == [values(expression, field, f"schedule-{n}") for n in range(1000)]
    assert all(low <= value <= high for pick in picks for value in pick)
    assert {len(pick) for pick in picks} == {count}
    assert {value for pick in picks for value in pick} >= set(range(low + 1, high))


def test_h_picks_independently_in_each_field():
    assert any(values("H H * * *", "minutes", i) != values("H H * * *", "hours", i) for i in "abcdef")


def test_h_is_the_same_on_every_version_and_platform():
    """A change here would move every schedule that has an H: it must be a choice, with a migration."""
    assert values("H H H * *", "minutes", "nightly") + values("H H H * *", "hours", "nightly") == [15, 5]


# R-TIME-4
@pytest.mark.parametrize(
    ("expression", "recurring"),
    [
        ("* 2 * * *", True),
        ("*/2 2 * * *", True),
        ("30 * * * *", True),
        ("30 */2 * * *", True),
        ("0-59 2 * * *", True),
        ("30-29 2 * * *", True),
        ("30 0-23/2 * * *", True),
        ("30 0/2 * * *", True),
        ("5,* 2 * * *", True),
        ("H/15 2 * * *", True),
        ("30 2 * * *", False),
        ("30 0-22/2 * * *", False),
        ("1-59 2 * * *", False),
        ("5/2 2 * * *", False),
        ("H 2 * * *", False),
        ("H(0-29)/5 2 * * *", False),
        ("* 30 2 * * *", False),
        ("30 1,2,3 * * *", False),
    ],
)
def test_recurring_is_a_member_that_covers_its_field_however_it_is_spelled(expression, recurring):
    assert parse_cron(expression).recurring is recurring


# R-TIME-9
@pytest.mark.parametrize(
    ("expression", "code", "position", "advice"),
    [
        ("", "empty", 0, "0 2 * * *"),
        ("   ", "empty", 0, "0 2 * * *"),
        ("* * * *", "wrong_field_count", 7, "5 (minute hour day month weekday)"),
        ("* * * * * * * *", "wrong_field_count", 14, "7 with the year last"),
        ("60 * * * *", "out_of_range", 0, "0-59"),
        ("* 24 * * *", "out_of_range", 2, "0-23"),
        ("* * 0 * *", "out_of_range", 4, "1-31"),
        ("* * 32 * *", "out_of_range", 4, "1-31"),
        ("* * * 13 *", "out_of_range", 6, "JAN-DEC"),
        ("* * * * 8", "out_of_range", 8, "0 and 7 are Sunday"),
        ("  * * * * 1,8", "out_of_range", 12, "0-7"),
        ("1-70 * * * *", "out_of_range", 2, "0-59"),
        ("0 0 0 1 1 ? 1969", "out_of_range", 12, "1970-2099"),
        ("0 0 0 1 1 ? 2100", "out_of_range", 12, "1970-2099"),
        ("0 0 0 1 1 ? 2030-2027", "bad_range", 12, "years don't wrap"),
        ("*/0 * * * *", "bad_step", 2, "from 1"),
        ("*/-1 * * * *", "bad_step", 2, "from 1"),
        ("1/-1 * * * *", "bad_step", 2, "from 1"),
        ("*/1.5 * * * *", "bad_step", 2, "whole number"),
        ("*/ * * * *", "bad_step", 1, "whole number"),
        ("*/1000000000 * * * *", "bad_step", 2, "whole number"),
        ("*/60 * * * *", "step_too_large", 2, "once an hour write 0"),
        ("*/90 * * * *", "step_too_large", 2, "@every 90m"),
        ("0 */24 * * *", "step_too_large", 4, "once a day"),
        ("0 */36 * * *", "step_too_large", 4, "@every 36h"),
        ("0 0 */31 * *", "step_too_large", 6, "@every 31d"),
        ("0 0 1 */12 *", "step_too_large", 8, "name the month"),
        ("0 0 * * */7", "step_too_large", 10, "name the weekday"),
        ("*/60 * * * * *", "step_too_large", 2, "@every 60s"),
        ("1,,2 * * * *", "empty_member", 2, "remove a comma"),
        (",1 * * * *", "empty_member", 0, "remove a comma"),
        ("1, * * * *", "empty_member", 2, "remove a comma"),
        ("1-2-3 * * * *", "bad_range", 0, "1-5"),
        ("5- * * * *", "bad_value", 2, "is missing: allowed is 0-59"),
        ("-5 * * * *", "bad_value", 0, "is missing: allowed is 0-59"),
        ("/5 * * * *", "bad_value", 0, "write */5 or 10/5"),
        ("+5 * * * *", "bad_value", 0, "0-59"),
        ("1_0 * * * *", "bad_value", 0, "0-59"),
        ("1e1 * * * *", "bad_value", 0, "0-59"),
        ("0x10 * * * *", "bad_value", 0, "0-59"),
        ("00000 * * * *", "bad_value", 0, "0-59"),
        ("MON * * * *", "bad_value", 0, "is a day of week and stands in the minute field"),
        ("* * * FRI *", "bad_value", 6, "is a day of week and stands in the month field"),
        ("* * * * JAN", "bad_value", 8, "is a month and stands in the day of week field"),
        ("* * * * MOO", "bad_value", 8, "SUN-SAT"),
        ("* * * * FRI-MOO", "bad_value", 12, "SUN-SAT"),
        ("* * * * TUES", "bad_value", 8, "SUN-SAT"),
        ("? * * * *", "misplaced_question_mark", 0, "use *"),
        ("* * ? * ?", "misplaced_question_mark", 8, "both day fields"),
        ("* * ?,1 * *", "bad_value", 4, "stands alone"),
        ("* * ?/2 * *", "bad_value", 4, "stands alone"),
        ("* * * * L", "bad_value", 8, "5L is the last Friday"),
        ("* * * * 2#0", "out_of_range", 8, "#1 to #5"),
        ("* * * * 2#6", "out_of_range", 8, "#1 to #5"),
        ("* * * * #1", "bad_value", 8, ""),
        ("* * * * 8#1", "out_of_range", 8, "0-7"),
        ("* * 0W * *", "bad_value", 4, "1W to 31W"),
        ("* * 32W * *", "bad_value", 4, "1W to 31W"),
        ("* * W * *", "bad_value", 4, "1W to 31W"),
        ("* * 1-5W * *", "bad_value", 4, "1W to 31W"),
        ("* * W15 * *", "bad_value", 4, "15W"),
        ("* * 5L * *", "bad_value", 4, "L-3"),
        ("* * L-31 * *", "out_of_range", 4, "L-1 to L-30"),
        ("* * L-3W * *", "out_of_range", 4, "L-1 to L-30"),
        ("* * 15#2 * *", "bad_value", 4, "1-31"),
        ("5L * * * *", "bad_value", 0, "0-59"),
        ("H(0-60) * * * *", "out_of_range", 0, "0-59"),
        ("H(30-10) * * * *", "out_of_range", 0, "0-59"),
        ("H/60 * * * *", "step_too_large", 2, ""),
        ("0 0 0 1 1 ? H", "bad_value", 12, "write the year"),
        ("H(5) * * * *", "bad_value", 0, "H(0-29)/10"),
        ("H-5 * * * *", "bad_value", 0, "write H, H/15"),
        ("0 0 * * MON,H(1", "bad_value", 12, "write H, H/15"),
        ("*-5 * * * *", "bad_value", 0, "0-59"),
        ("** * * * *", "bad_value", 0, "0-59"),
        ("0 0 30 2 *", "never_fires", 4, "no February has a day 30"),
        ("0 0 31 4,6,9,11 *", "never_fires", 4, "no April or June or September or November has a day 31"),
        ("0 0 0 30,31 2 ? 2028", "never_fires", 6, "no February"),
        ("0 0 31W 2 *", "never_fires", 4, "31W"),
        ("0 0 L-29 2 *", "never_fires", 4, "L-29"),
        ("0 0 1W * */6", "never_fires", 4, "no month has a day 1W that is a weekday */6"),
        ("@dayly", "unknown_alias", 0, "did you mean @daily?"),
        ("@", "unknown_alias", 0, "known are @hourly"),
        ("@reboot", "foreign_notation", 0, "a boot is no time"),
        ("@every", "foreign_notation", 0, "@every 90s"),
        ("TZ=UTC 0 2 * * *", "foreign_notation", 0, "set the timezone"),
        ("CRON_TZ=Europe/Berlin 0 2 * * *", "foreign_notation", 0, "set the timezone"),
        ("# nightly", "foreign_notation", 0, "comment"),
        ("0 5 * * * /usr/bin/backup", "foreign_notation", 10, "the fields alone"),
        ("0 5 * * * # nightly", "foreign_notation", 10, "the fields alone"),
        ("  0 0 5 * * MON # nightly", "foreign_notation", 16, "the fields alone"),
        ("0 5 * * * root backup --all", "foreign_notation", 10, "the fields alone"),
        ("rate(5 minutes)", "foreign_notation", 0, "@every 5m"),
        ("cron(0 5 * * ? *)", "foreign_notation", 0, "write 0 5 * * *"),
        ("0 5 * * ? *", "foreign_notation", 10, "with the year last write 0 0 5 * * ? *"),
        (" 0 5 1 1 ? 2027", "foreign_notation", 11, "with the year last write 0 0 5 1 1 ? 2027"),
        ("0 9 * * 1-5 Europe/Berlin", "foreign_notation", 12, "set the timezone"),
        ("0 9 * * * UTC", "foreign_notation", 10, "set the timezone"),
        ("0 0 9 * * * America/Argentina/Ushuaia", "foreign_notation", 12, "set the timezone"),
        ("@daily /usr/bin/report", "foreign_notation", 7, "the alias alone"),
        (" @Hourly\troot run", "foreign_notation", 9, "the alias alone"),
        ("*:0/15", "foreign_notation", 0, "*/15 * * * *"),
        ("5pm", "foreign_notation", 0, "30 2 * * *"),
        ("in 10m", "foreign_notation", 0, "trigger at"),
        ("BYDAY=MO", "foreign_notation", 0, "FREQ=DAILY"),
        ("PT5M", "foreign_notation", 0, "@every 5m"),
        ("P1D", "foreign_notation", 0, "@every"),
        ("*-*-* 00:00:00", "foreign_notation", 0, "0 2 * * *"),
        ("Mon..Fri *-*-* 09:00", "foreign_notation", 0, "systemd"),
        ("2026-11-19 08:00", "foreign_notation", 0, "trigger at"),
        ("2026-11-19T08:00:00Z", "foreign_notation", 0, "trigger at"),
        ("every 5 minutes", "foreign_notation", 0, "@every 5m"),
        ("every day at five o clock", "foreign_notation", 0, "@every 5m"),
        ("5m", "foreign_notation", 0, "@every before"),
        ("02:30", "foreign_notation", 0, "30 2 * * *"),
        ("daily", "foreign_notation", 0, "@daily"),
        ("FREQ=DAILY", "foreign_notation", 0, "trigger rrule"),
        ("* * * * *\x00", "bad_character", 9, "\\u0000"),
        ("* * *\n* *", "bad_character", 5, "\\u000a"),
        ("*\x0b* * * *", "bad_character", 1, "\\u000b"),
        ("*\x0c* * * *", "bad_character", 1, "\\u000c"),
        ("*\xa0* * * *", "bad_character", 1, "\\u00a0"),
        ("*\u2028* * * *", "bad_character", 1, "\\u2028"),
        ("\u202e* * * * *", "bad_character", 0, "\\u202e"),
        ("\ufeff* * * * *", "bad_character", 0, "\\ufeff"),
        ("٥ * * * *", "bad_character", 0, "\\u0665"),
        ("５ * * * *", "bad_character", 0, "\\uff15"),
        ("* * * * ſun", "bad_character", 8, "\\u017f"),
        ("* * * * frı", "bad_character", 10, "\\u0131"),
        ("1–5 * * * *", "bad_character", 1, "\\u2013"),
        ("'; DROP TABLE schedule; --", "bad_value", 0, ""),
        ("{{ 7*7 }} * * *", "bad_value", 0, ""),
        ("$(id) * * * *", "bad_value", 0, ""),
        ("* " * 200, "too_long", 256, "at most 256"),
        ("1" * 10_000_000, "too_long", 256, "at most 256"),
        (None, "not_a_text", 0, ""),
        (5, "not_a_text", 0, ""),
        (True, "not_a_text", 0, ""),
        (["* * * * *"], "not_a_text", 0, ""),
        (b"* * * * *", "not_a_text", 0, ""),
    ],
)
def test_what_is_refused_says_where_and_what_would_be_right(expression, code, position, advice):
    with pytest.raises(SpecError) as refused:
        parse_cron(expression)
    error = refused.value
    assert (error.code, error.position) == (code, position)
    assert advice in error.message
    assert len(error.message) < 250
    assert error.message.isprintable()
    assert error.message.isascii() or "…" in error.message
    if isinstance(expression, str):
        assert expression[error.position :].startswith(error.token)


# R-TIME-9
def test_refusing_takes_well_under_a_millisecond():
    hostile = ["1" * 1_000_000, "*/1000000000 " * 9, "," * 256, "-" * 256, "H(" * 128, "a" * 256]
    hostile += ["1-5/" * 64, "0 0 30 2 *", "* * * * " + "MON," * 60, "@" * 256, "P" + "T" * 254, "\x00" * 256]
    for expression in hostile:
        best = min(_seconds_to_refuse(expression) for _ in range(5))
        assert best < 0.001, expression[:20]


def _seconds_to_refuse(expression: str) -> float:
    begin = time.perf_counter()
    with pytest.raises(SpecError):
        parse_cron(expression)
    return time.perf_counter() - begin


def test_a_star_or_one_number_is_not_read_anew_when_the_memo_is_empty():
    for unit, text in ((MINUTE, "*"), (MINUTE, "30"), (WEEKDAY, "5")):
        parse_field.cache_clear()
        before = parse_field(unit, text)
        parse_field.cache_clear()
        assert parse_field(unit, text) is before


# R-TIME-3
@given(expressions())
@settings(max_examples=examples(300))
def test_what_is_printed_reads_back_as_the_same_expression(sets):
    try:
        cron = parse_cron(sets.text)
    except SpecError as error:
        assert error.code == "never_fires"
        return
    assert parse_cron(cron.text()) == cron
    assert parse_cron(cron.text()).text() == cron.text()
    assert cron.recurring is sets.recurring


@pytest.mark.parametrize(
    "expression",
    [
        "0 0 L * *",
        "0 0 L-3 * *",
        "0 0 LW * *",
        "0 0 15W * *",
        "0 0 * * 5L",
        "0 0 * * 2#1",
        "0 0 1,15W,L * FRI#2,3L",
    ]
    + ["H H(0-7) * * *", "H/15 * * * *", "H(0-29)/10 * * * *", "30 0 0 * * *", "0 0 0 1 1 * 2027"],
)
def test_special_members_print_as_they_are_read(expression):
    printed = parse_cron(expression, "me").text()
    assert parse_cron(printed, "me") == parse_cron(expression, "me")
