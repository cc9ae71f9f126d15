"""Triggers as code writes them: they make the spec that files and REST would hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from detent import DetentError, at, cron, every, rrule
from detent.domain.spec import parse_trigger

NOW = datetime(2026, 11, 19, 8, 0, tzinfo=UTC)
BERLIN = timezone(timedelta(hours=1))


# R-TIME-1
# R-TIME-2
@pytest.mark.parametrize(
    ("when", "spec"),
    [
        (
            cron("30 2 * * *", tz="Europe/Berlin", gap="skip", exclude={"dates": ["2026-12-25"]}),
            {
                "cron": "30 2 * * *",
                "timezone": "Europe/Berlin",
                "gap": "skip",
                "exclude": {"dates": ["2026-12-25"]},
            },
        ),
        (every("90s"), {"every": "90s"}),
        (
            every(timedelta(hours=1, milliseconds=5), start_at=datetime(2027, 1, 1, 1, tzinfo=BERLIN)),
            {"every": "1h5ms", "start_at": "2027-01-01T00:00:00Z"},
        ),
        (at("in 10m"), {"at": "in 10m"}),
        (at(datetime(2027, 1, 1, tzinfo=UTC)), {"at": "2027-01-01T00:00:00Z"}),
        (
            rrule("FREQ=DAILY", tz="UTC", end_at="2027-01-01T00:00:00Z"),
            {"rrule": "FREQ=DAILY", "timezone": "UTC", "end_at": "2027-01-01T00:00:00Z"},
        ),
    ],
)
def test_each_is_one_trigger_of_the_spec(when, spec):
    assert when.spec == spec
    assert parse_trigger(when.spec, as_of=NOW).next(NOW) is not None


# R-TIME-9
@pytest.mark.parametrize("duration", [timedelta(microseconds=1), timedelta(seconds=1, microseconds=500)])
def test_what_is_finer_than_a_millisecond_is_refused_not_cut_off(duration):
    with pytest.raises(DetentError, match="whole number of milliseconds"):
        every(duration)


# R-TIME-9
@pytest.mark.parametrize(
    "when",
    [
        every(timedelta()),
        every(timedelta(seconds=-5)),
        every(timedelta(days=4000)),
        at(datetime(2027, 1, 1)),  # noqa: DTZ001
        cron("61 * * * *"),
    ],
)
def test_what_cannot_be_meant_is_refused_where_every_spec_is_read(when):
    with pytest.raises(DetentError):
        parse_trigger(when.spec, as_of=NOW)
