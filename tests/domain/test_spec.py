"""The one spec, read into triggers; and what it refuses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from detent.domain.at import At
from detent.domain.errors import SpecError
from detent.domain.every import Every
from detent.domain.spec import anchored, parse_expression, parse_trigger, parse_triggers, read_triggers
from detent.domain.wallclock import Fold, Gap
from detent.domain.zone import zone

NOW = datetime(2026, 11, 19, 8, 0, 0, 123_456, tzinfo=UTC)
NOW_MS = NOW.replace(microsecond=123_000)
HOUR = timedelta(hours=1)


def slots(spec: dict, count: int = 3) -> list[str]:
    found = parse_triggers([spec], as_of=NOW).upcoming(NOW, count)
    return [f"{slot:%m-%d %H:%M}" for slot in found]


# R-TIME-1
# R-TIME-5
def test_a_full_cron_trigger():
    spec = {
        "cron": "30 2 * * MON-FRI",
        "timezone": "America/New_York",
        "gap": "shift",
        "fold": "last",
        "start_at": "2026-12-01T00:00:00Z",
        "end_at": "2026-12-04T00:00:00Z",
        "exclude": {"dates": ["2026-12-02"]},
    }
    trigger = parse_trigger(spec, as_of=NOW)
    assert (trigger.rule.gap, trigger.rule.fold) == (Gap.SHIFT, Fold.LAST)
    assert slots(spec, 9) == ["12-01 07:30", "12-03 07:30"]


def test_tz_is_an_alias():
    assert slots({"cron": "0 9 * * *", "tz": "Europe/Berlin"}, 1) == ["11-20 08:00"]


# R-TIME-2
def test_every_is_anchored_at_its_start_or_at_its_registration():
    assert parse_trigger({"every": "90s"}, as_of=NOW).rule == Every(timedelta(seconds=90), NOW_MS)
    assert parse_triggers([{"every": "90s"}], as_of=NOW).next(NOW) == NOW_MS + timedelta(seconds=90)
    assert slots({"every": "1h30m", "start_at": "2026-11-19T06:00:00Z"}) == [
        "11-19 09:00",
        "11-19 10:30",
        "11-19 12:00",
    ]
    assert slots({"cron": "@every 1h30m", "start_at": "2026-11-19T06:00:00Z"}, 1) == ["11-19 09:00"]


# R-TIME-2
def test_at_is_an_instant_or_a_delay():
    assert parse_trigger({"at": "in 10m"}, as_of=NOW).rule == At(
        NOW_MS + timedelta(minutes=10, milliseconds=1)
    )
    assert slots({"at": "2026-11-20T08:00:00+01:00"}) == ["11-20 07:00"]
    just_past = {"at": "2026-11-19T07:59:00Z"}
    assert parse_trigger(just_past, as_of=NOW).rule.instant < NOW


# R-TIME-3
def test_rrule_begins_at_its_start_on_the_wall_clock_of_its_zone():
    spec = {"rrule": "FREQ=WEEKLY;BYDAY=MO,FR", "tz": "Europe/Berlin", "start_at": "2026-11-20T08:00:00Z"}
    assert slots(spec) == ["11-20 08:00", "11-23 08:00", "11-27 08:00"]


def test_whole_milliseconds_and_never_earlier():
    trigger = parse_trigger({"at": "2026-11-20T08:00:00.123456Z"}, as_of=NOW)
    assert trigger.rule.instant.microsecond == 124_000


# R-TIME-5
@pytest.mark.parametrize(
    ("exclude", "expected"),
    [
        ({"dates": ["2026-11-20", "2026-11-22"]}, [19, 21, 23, 24]),
        ({"ranges": [{"from": "2026-11-20", "to": "2026-11-22"}]}, [19, 23, 24, 25]),
        ({"weekly": [{"days": "SAT,SUN"}]}, [19, 20, 23, 24]),
        ({"weekly": [{"days": "FRI-MON", "from": "08:00", "to": "10:00"}]}, [19, 24, 25, 26]),
        ({"weekly": [{"days": "FRI", "from": "22:00", "to": "10:00"}]}, [19, 20, 22, 23]),
        ({"weekly": [{"from": "09:00", "to": "09:01"}], "timezone": "Europe/Berlin"}, [19, 20, 21, 22]),
    ],
)
def test_exclusions(exclude, expected):
    triggers = parse_triggers([{"cron": "0 9 * * *", "exclude": exclude}], as_of=NOW)
    assert [slot.day for slot in triggers.upcoming(NOW, 4)] == expected


@pytest.mark.parametrize(
    ("spec", "code", "field", "advice"),
    [
        ({}, "not_one_kind", "trigger", "exactly one of cron, every, at, rrule"),
        ({"cron": "* * * * *", "every": "5m"}, "not_one_kind", "trigger", "cron and every"),
        ({"corn": "* * * * *"}, "unknown_field", "trigger", "did you mean cron?"),
        ({"cron": "* * * * *", "time_zone": "UTC"}, "unknown_field", "trigger", "did you mean timezone?"),
        ({"every": "5m", "anchor": "2026-11-19T08:00:00Z"}, "unknown_field", "trigger", "start_at is the anchor"),
        ({"cron": "* * * * *", "shard_id": "x"}, "unknown_field", "trigger", "known are" ),
        ({5: "* * * * *"}, "unknown_field", "trigger", "no text"),
        ({"cron": "61 * * * *"}, "out_of_range", "cron", "0-59"),
        ({"cron": "@every 90x"}, "bad_duration", "cron", "90s"),
        ({"cron": "@every 90s\x00"}, "bad_character", "cron", "ASCII"),
        ({"cron": "* * * * *", "tz": "EST"}, "ambiguous_zone", "tz", "America/New_York"),
        ({"cron": "* * * * *", "timezone": "EST"}, "ambiguous_zone", "timezone", "Etc/GMT+5"),
        ({"cron": "* * * * *", "timezone": "UTC", "tz": "UTC"}, "conflict", "tz", "the same"),
        ({"cron": "* * * * *", "gap": "jump"}, "bad_value", "gap", "at_transition, shift, skip"),
        ({"cron": "* * * * *", "fold": 1}, "bad_value", "fold", "first, last, both"),
        ({"every": "5m", "gap": "skip"}, "conflict", "gap", "remove it"),
        ({"at": "in 5m", "fold": "both"}, "conflict", "fold", "remove it"),
        ({"every": "0s"}, "bad_duration", "every", "1ms"),
        ({"every": True}, "bad_duration", "every", "10m"),
        ({"at": "yesterday"}, "bad_instant", "at", "2026-11-19T08:00:00Z"),
        ({"at": "in a while"}, "bad_duration", "at", "10m"),
        ({"at": "2026-11-17T08:00:00Z"}, "never_fires", "at", "lies in the past"),
        ({"at": "2090-11-17T08:00:00Z"}, "never_fires", "at", "ten years ahead"),
        ({"at": "2036-12-01T08:00:00Z"}, "never_fires", "at", "ten years ahead"),
        ({"cron": "0 0 0 1 1 ? 2020"}, "never_fires", "cron", "50 years"),
        ({"cron": "30 2 8 3 *", "tz": "UTC", "end_at": "2026-12-01T00:00:00Z"}, "never_fires", "cron", "bounds"),
        ({"cron": "0 0 * * *", "exclude": {"weekly": [{}]}}, "never_fires", "cron", "exclusions"),
        ({"rrule": "FREQ=DAILY;UNTIL=20200101"}, "never_fires", "rrule", "50 years"),
        ({"cron": "* * * * *", "start_at": "now"}, "bad_instant", "start_at", ""),
        (
            {"cron": "* * * * *", "start_at": "2027-01-01T00:00:00Z", "end_at": "2027-01-01T00:00:00Z"},
            "empty_range", "end_at", "after start_at",
        ),
        ({"cron": "* * * * *", "exclude": []}, "not_an_object", "exclude", "dates"),
        ({"cron": "* * * * *", "exclude": {"days": []}}, "unknown_field", "exclude", "did you mean dates?"),
        ({"cron": "* * * * *", "exclude": {"dates": "2026-12-25"}}, "not_a_list", "exclude/dates", "a list"),
        ({"cron": "* * * * *", "exclude": {"dates": ["25.12.2026"]}}, "bad_date", "exclude/dates/0", "2026-12-25"),
        ({"cron": "* * * * *", "exclude": {"dates": ["2026-13-25"]}}, "bad_date", "exclude/dates/0", "2026-12-25"),
        ({"cron": "* * * * *", "exclude": {"dates": [20261225]}}, "bad_date", "exclude/dates/0", "2026-12-25"),
        ({"cron": "* * * * *", "exclude": {"dates": ["2026-12-25"] * 1001}}, "out_of_range", "exclude", "1000"),
        (
            {"cron": "* * * * *", "exclude": {"ranges": [{"from": "2026-12-25", "to": "2026-12-24"}]}},
            "empty_range", "exclude/ranges/0/to", "before the first",
        ),
        ({"cron": "* * * * *", "exclude": {"weekly": [{"days": "5L"}]}}, "bad_value", "exclude/weekly/0/days", "SAT,SUN"),
        ({"cron": "* * * * *", "exclude": {"weekly": [{"days": 5}]}}, "bad_value", "exclude/weekly/0/days", "SAT,SUN"),
        ({"cron": "* * * * *", "exclude": {"weekly": [{"from": "25:00"}]}}, "bad_value", "exclude/weekly/0/from", "24:00"),
        ({"cron": "* * * * *", "exclude": {"weekly": [{"from": "9:00"}]}}, "bad_value", "exclude/weekly/0/from", "22:00"),
        ({"cron": "* * * * *", "exclude": {"dates": ["2026-W01-1"]}}, "bad_date", "exclude/dates/0", "2026-12-25"),
        ({"cron": "* * * * *", "exclude": {"dates": ["20261225xx"]}}, "bad_date", "exclude/dates/0", "2026-12-25"),
        ({"cron": "* * * * *", "exclude": {"dates": ["5"] * 1001}}, "out_of_range", "exclude", "1000"),
        ({"cron": "* * * * *", "exclude": {"weekly": [{"days": "²"}]}}, "bad_value", "exclude/weekly/0/days", "SAT,SUN"),
        ({"cron": "* * * * *", "exclude": {"weekly": [{"days": "٥"}]}}, "bad_value", "exclude/weekly/0/days", "SAT,SUN"),
        ({"cron": "* * * * *", "exclude": {"weekly": [{"days": "ſun"}]}}, "bad_value", "exclude/weekly/0/days", "SAT,SUN"),
        ({"cron": "* * * * *", "exclude": {"weekly": [{"days": "MOO"}]}}, "bad_value", "exclude/weekly/0/days", "SUN-SAT"),
        ({"cron": "* * * * *", "exclude": {"dates": ["2026-12-25", "2026-12-32"]}}, "bad_date", "exclude/dates/1", "2026-12-32"),
        ({"cron": "* * * * *", "exclude": {"ranges": [{"from": "2026-12-25"}]}}, "bad_date", "exclude/ranges/0/to", "2026-12-25"),
        ({"cron": "* * * * *", "exclude": {"weekly": [{}, {"to": "24:01"}]}}, "bad_value", "exclude/weekly/1/to", "24:00"),
        ({"cron": "* * * * *", "exclude": {"weekly": [{"day": "SAT"}]}}, "unknown_field", "exclude/weekly/0", "did you mean days?"),
        ({"cron": "* * * * *", "exclude": {"tz": "EST"}}, "ambiguous_zone", "exclude/tz", "America/New_York"),
        ("* * * * *", "not_an_object", "trigger", "cron"),
        (None, "not_an_object", "trigger", "cron"),
    ],
)  # fmt: skip
def test_what_is_refused_names_the_field_and_what_would_be_right(spec, code, field, advice):
    with pytest.raises(SpecError) as refused:
        parse_trigger(spec, as_of=NOW)
    assert (refused.value.code, refused.value.field) == (code, field)
    assert advice in refused.value.message


# R-TIME-9
@pytest.mark.parametrize(
    ("at", "position"), [("in a while", 3), ("in  5x", 4), ("tomorrow", 0), ("2026-02-30T00:00:00Z", 0)]
)
def test_an_error_about_an_instant_or_a_delay_says_where_it_stands(at, position):
    with pytest.raises(SpecError) as refused:
        parse_trigger({"at": at}, as_of=NOW)
    assert refused.value.position == position
    assert at[position:] == refused.value.token


@pytest.mark.parametrize("specs", [None, {}, "* * * * *", [], [{"every": "5m"}] * 33])
def test_triggers_is_a_list_of_bounded_length(specs):
    with pytest.raises(SpecError, match="list|1 to 32"):
        parse_triggers(specs, as_of=NOW)


def test_errors_name_the_trigger_of_the_list():
    with pytest.raises(SpecError) as refused:
        parse_triggers([{"every": "5m"}, {"cron": "  61 * * * *"}], as_of=NOW)
    assert (refused.value.field, refused.value.position) == ("triggers/1/cron", 2)
    assert refused.value.to_json()["token"] == "61"


# R-TIME-2
@pytest.mark.parametrize(
    "spec",
    [
        {
            "cron": "30 2 * * MON-FRI",
            "tz": "America/New_York",
            "gap": "shift",
            "exclude": {"weekly": [{"days": "FRI"}]},
        },
        {"cron": "@every 90s"},
        {"cron": "H H * * *", "end_at": "2027-01-01T00:00:00Z"},
        {"every": "7m"},
        {"every": "7m", "start_at": "2020-01-01T00:00:00Z"},
        {"at": "in 10m"},
        {"at": "2026-11-20T08:00:00.0001+01:00"},
        {"rrule": "FREQ=WEEKLY;BYDAY=MO,FR;COUNT=3", "timezone": "Europe/Berlin"},
    ],
)
def test_what_is_stored_reads_back_as_the_same_trigger_at_any_later_moment(spec):
    triggers = parse_triggers([spec], as_of=NOW, identity="a")
    stored = anchored(spec, triggers.each[0], NOW)
    again = read_triggers([stored], identity="a")
    assert list(again.upcoming(NOW, 9)) == list(triggers.upcoming(NOW, 9))
    assert anchored(stored, again.each[0], NOW + HOUR) == stored


def test_what_people_type():
    def parse(text):
        return parse_expression(text, where=zone("UTC"), gap=Gap.SKIP, fold=Fold.BOTH, as_of=NOW)

    assert parse(" @every\t90s ") == Every(timedelta(seconds=90), NOW_MS)
    assert parse("@EVERY 90s") == Every(timedelta(seconds=90), NOW_MS)
    assert parse("FREQ=DAILY").next(NOW).day == 20
    assert parse("rrule:freq=daily;count=1").next(NOW) is None
    assert parse("@daily").gap is Gap.SKIP
    with pytest.raises(SpecError) as refused:
        parse("@every  90x")
    assert (refused.value.code, refused.value.position) == ("bad_duration", 8)
    with pytest.raises(SpecError) as refused:
        parse(" @every e")  # there is an e in @every too
    assert (refused.value.token, refused.value.position) == ("e", 8)
    for text in ("@every5m", "@every", "@every "):
        with pytest.raises(SpecError, match="90s, @every 10m"):
            parse(text)
