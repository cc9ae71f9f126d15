from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings

from detent.domain.cron import parse_cron
from detent.domain.cron.describe import describe_cron
from detent.domain.describe import describe
from detent.domain.errors import SpecError
from detent.domain.spec import parse_triggers
from tests.conftest import examples
from tests.props.generate import expressions

NOW = datetime(2026, 11, 19, 8, 0, tzinfo=UTC)


# R-TIME-8
@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("* * * * *", "Every minute"),
        ("*/5 * * * *", "Every 5 minutes"),
        ("*/7 * * * *", "Every 7 minutes from minute 0 of every hour"),
        ("0 * * * *", "Every hour, on the hour"),
        ("5 * * * *", "Every hour, at minute 5"),
        ("15,45 * * * *", "At minutes 15 and 45 of every hour"),
        ("0 */2 * * *", "Every 2 hours, on the hour"),
        ("*/15 */2 * * *", "Every 15 minutes of every 2nd hour from midnight"),
        ("30 2 * * *", "At 02:30, every day"),
        ("0 8,20 * * *", "At 08:00 and 20:00, every day"),
        ("0 9 * * 1-5", "At 09:00, Monday to Friday"),
        ("0 9 * * SAT,SUN", "At 09:00, on Saturday and Sunday"),
        ("0 9 * * FRI-MON", "At 09:00, on Monday and Friday to Sunday"),
        ("*/10 9-17 * * MON-FRI", "Every 10 minutes, from 09:00 to 17:50, Monday to Friday"),
        ("* 2 * * *", "Every minute, from 02:00 to 02:59"),
        ("*/10 22-2 * * *", "Every 10 minutes, from 22:00 to 02:50"),
        (
            "*/10 22-2,9 * * *",
            "Every 10 minutes, in the hours that begin at 00:00 to 02:00, 09:00, 22:00 and 23:00",
        ),
        ("23 1-23/2 * * *", "Every 2 hours from 01:23 to 23:23, every day"),
        (
            "*/30 8-18/2 * * *",
            "Every 30 minutes, in the hours that begin at 08:00, 10:00, 12:00, 14:00, 16:00 and 18:00",
        ),
        ("*/20 2 * * *", "At 02:00, 02:20 and 02:40, every day"),
        ("0 0 * * 0-6", "At 00:00, every day"),
        ("0 0 13 * 0-6", "At 00:00, every day"),
        ("0 0 5-31/3 * *", "At 00:00, on every 3rd day of the month from the 5th"),
        ("0 0 1-15/2 * *", "At 00:00, on every 2nd day of the month from the 1st to the 15th"),
        ("* * * * * *", "Every second"),
        ("*/10 * * * * *", "Every 10 seconds"),
        ("30 * * * * *", "Every minute, at second 30"),
        ("15 30 4 * * *", "At 04:30:15, every day"),
        ("0 0 1 * *", "At 00:00, on the 1st of the month"),
        ("0 0 1,15 * *", "At 00:00, on the 1st and the 15th of the month"),
        ("0 0 L * *", "At 00:00, on the last day of the month"),
        ("0 0 L-3 * *", "At 00:00, on the 4th to last day of the month"),
        ("0 0 LW * *", "At 00:00, on the last working day (Monday to Friday) of the month"),
        ("0 0 15W * *", "At 00:00, on the working day (Monday to Friday) nearest to the 15th of the month"),
        ("0 0 * * 2#1", "At 00:00, on the 1st Tuesday of the month"),
        ("0 0 * * 5L", "At 00:00, on the last Friday of the month"),
        ("0 0 13 * FRI", "At 00:00, on the 13th of the month or on Friday"),
        ("0 0 */2 * MON", "At 00:00, on every 2nd day of the month from the 1st and only if it is Monday"),
        ("0 0 25 12 *", "At 00:00, on the 25th of the month, in December"),
        ("0 0 0 1 1 ? 2027-2030", "At 00:00, on the 1st of the month, in January, in 2027 to 2030"),
        ("@yearly", "At 00:00, on the 1st of the month, in January"),
    ],
)
def test_cron_in_words(expression, words):
    assert describe_cron(parse_cron(expression)) == words


# R-TIME-8
@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"cron": "30 2 * * *", "tz": "America/New_York"}, "At 02:30, every day (America/New_York)"),
        ({"every": "90m", "start_at": "2026-11-19T08:00:00Z"}, "Every 1 hour 30 minutes, counted from 2026-11-19T08:00:00Z"),
        ({"at": "2026-12-24T18:00:00Z"}, "Once, at 2026-12-24T18:00:00Z"),
        ({"rrule": "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;BYHOUR=9;BYMINUTE=0"}, "Every 2 weeks, on Monday and Friday, at 09:00"),
        ({"rrule": "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=9;COUNT=3"}, "Every month, on the last Friday, at 09:00, 3 times"),
        ({"rrule": "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2;BYHOUR=9"},
         "Every month, on Monday to Friday, at 09:00, of these only the 2nd to last"),
        ({"rrule": "FREQ=MINUTELY;INTERVAL=15"}, "Every 15 minutes"),
        ({"rrule": "FREQ=HOURLY;BYMINUTE=0,30"}, "Every hour, at minutes 0 and 30"),
        ({"rrule": "FREQ=HOURLY;INTERVAL=6;BYMINUTE=15;BYSECOND=30"}, "Every 6 hours, at minute 15, at second 30"),
        ({"rrule": "FREQ=MINUTELY;INTERVAL=7;BYSECOND=0,30"}, "Every 7 minutes, at seconds 0 and 30"),
        ({"rrule": "FREQ=MINUTELY;INTERVAL=20;BYHOUR=9"}, "Every 20 minutes, at 09:00, 09:20 and 09:40"),
        ({"rrule": "FREQ=SECONDLY;INTERVAL=10"}, "Every 10 seconds"),
        ({"rrule": "FREQ=YEARLY;BYDAY=20MO,-1SU;BYHOUR=9"},
         "Every year, on the last Sunday of the year and the 20th Monday of the year, at 09:00"),
        ({"rrule": "FREQ=YEARLY;BYYEARDAY=100,-1;BYHOUR=9"}, "Every year, on day 100 and the last day of the year, at 09:00"),
        ({"rrule": "FREQ=YEARLY;BYWEEKNO=1,-1;BYDAY=SU;BYHOUR=9"}, "Every year, on Sunday, in week 1 and the last week, at 09:00"),
        ({"rrule": "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1,-2,1;BYHOUR=9"},
         "Every month, on Monday to Friday, at 09:00, of these only the 1st, the 2nd to last and the last"),
        ({"rrule": "FREQ=YEARLY;BYMONTH=1,7;BYMONTHDAY=1,-1;BYHOUR=9;UNTIL=20301231"},
         "Every year, on the 1st and the last day of the month, in January and July, at 09:00, until 2030-12-31 23:59:59"),
        ({"rrule": "FREQ=YEARLY;BYYEARDAY=100;BYHOUR=9;COUNT=1"}, "Every year, on day 100 of the year, at 09:00, once"),
        ({"rrule": "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;BYHOUR=9"}, "Every year, on Monday, in week 20, at 09:00"),
        ({"cron": "0 9 * * *", "start_at": "2026-12-01T00:00:00Z", "end_at": "2027-01-01T00:00:00Z", "exclude": {"dates": []}},
         "At 09:00, every day, from 2026-12-01T00:00:00Z, until 2027-01-01T00:00:00Z, except where its calendar excludes it"),
    ],
)  # fmt: skip
def test_triggers_in_words(spec, words):
    assert describe(parse_triggers([spec], as_of=NOW)) == words


def test_several_triggers_and_a_limit():
    specs = [{"cron": "0 9 * * *"}, {"cron": "0 18 * * FRI"}]
    assert describe(parse_triggers(specs, as_of=NOW, max_firings=5)) == (
        "At 09:00, every day; At 18:00, on Friday; 5 times in all"
    )
    assert describe(parse_triggers(specs[:1], as_of=NOW, max_firings=1)).endswith("; once in all")


@given(expressions(with_seconds=True))
@settings(max_examples=examples(200))
def test_whatever_is_accepted_can_be_described(sets):
    try:
        cron = parse_cron(sets.text)
    except SpecError:
        return
    words = describe_cron(cron)
    assert words[0].isupper()
    assert words.isprintable()
    assert "  " not in words
    assert ", ," not in words
