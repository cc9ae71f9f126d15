"""Anything at all, thrown at everything that reads text: an answer or a refusal, quickly."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from detent.cli.jsonl import answer
from detent.domain.bulk import SlotMemo
from detent.domain.cron import parse_cron
from detent.domain.cron.describe import describe_cron
from detent.domain.crontab import read_crontab
from detent.domain.duration import parse_duration
from detent.domain.errors import SpecError
from detent.domain.instant import parse_instant
from detent.domain.rrule_text import parse_rrule
from detent.domain.spec import parse_triggers
from detent.domain.wallclock import WallClock
from detent.domain.zone import zone
from tests.conftest import examples

NOW = datetime(2026, 11, 19, 8, 0, tzinfo=UTC)
LIMIT = 0.25  # seconds a case, on a loaded machine; the usual one is microseconds

ALPHABET = "0123456789*/-,?LWH#()@ \tJANMONFRISUNevery=;:FREQDAILYBYCOUNT\x00\n٥\u202e"
texts = st.one_of(st.text(ALPHABET, max_size=60), st.text(max_size=300))
cronish = st.lists(st.text("0123456789*/-,?LWH#()", min_size=1, max_size=12), min_size=4, max_size=8).map(
    " ".join
)
rrulish = st.lists(
    st.tuples(
        st.sampled_from(["FREQ", "INTERVAL", "COUNT", "UNTIL", "BYDAY", "BYMONTH", "BYMONTHDAY", "BYYEARDAY"]
                        + ["BYWEEKNO", "BYHOUR", "BYMINUTE", "BYSECOND", "BYSETPOS", "WKST"]),
        st.one_of(
            st.sampled_from(["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY", "MO", "-1FR"]),
            st.integers(-400, 100_001).map(str),
            st.lists(st.integers(-60, 60), min_size=1, max_size=9).map(lambda n: ",".join(map(str, n))),
            st.just("20301231T000000Z"),
        ),
    ).map("=".join),
    min_size=1,
    max_size=6,
).map(lambda parts: ";".join(["FREQ=" + "SECONDLY"] * (len(parts) % 5 == 0) + parts))  # fmt: skip
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts, cronish),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=12,
)
KEYS = ["cron", "every", "at", "rrule", "timezone", "tz", "gap", "fold", "start_at", "end_at", "exclude"]


@pytest.fixture(autouse=True, scope="module")
def _zones_are_read():
    zone("UTC")
    zone("America/New_York")


def within_limit(action, text: str | None = None) -> None:
    """An answer, or an error about what stands at its position in the text."""
    begin = time.perf_counter()
    try:
        action()
    except SpecError as error:
        if text is not None:
            assert text[error.position :].upper().startswith(error.token.upper())
        assert error.message.isprintable()
        assert len(error.message) < 400
        assert error.position >= 0
        json.dumps(error.to_json())
    assert time.perf_counter() - begin < LIMIT


def _use_cron(text):
    cron = parse_cron(text, "identity")
    describe_cron(cron)
    WallClock(cron, zone("America/New_York")).next(NOW)


# R-TIME-9
@given(st.one_of(texts, cronish))
@example("1" * 1_000_000)
@example("*/" + "9" * 250)
@example("0 0 29 2 1#5")
@settings(max_examples=examples(400))
def test_cron(text):
    within_limit(lambda: _use_cron(text), text)


# R-TIME-9
@given(st.one_of(texts, rrulish))
@settings(max_examples=examples(300))
def test_rrule(text):
    within_limit(lambda: WallClock(parse_rrule(text, NOW, zone("UTC")), zone("UTC")).next(NOW), text)


@given(texts)
@example("\n".join(["A=x" + " " * 9_990 + "y"] * 3))  # each was scanned once a blank
@settings(max_examples=examples(150))
def test_instants_durations_zones_and_crontabs(text):
    within_limit(lambda: parse_instant(text, "at"), text)
    within_limit(lambda: parse_duration(text, "every"), text)
    within_limit(lambda: zone(text), text)
    within_limit(lambda: list(read_crontab(text, zone("UTC"))))


# R-TIME-9
@given(st.one_of(values, st.lists(st.dictionaries(st.sampled_from(KEYS), values, max_size=4), max_size=3)))
@settings(max_examples=examples(300))
def test_specs(value):
    within_limit(lambda: parse_triggers(value, as_of=NOW))


@given(st.one_of(st.binary(max_size=200), values.map(lambda v: json.dumps(v).encode())))
@example(b"[" * 60_000)
@example(b'{"expr": ' + b"9" * 5000 + b"}")
@example(b'{"expr": "\\ud800 * * * *"}')
@example(b'{"expr": "H * * * *", "identity": "\\ud800"}')
@example(b'{"expr": "* * * * *", "count": 1e400}')
@settings(max_examples=examples(300))
def test_json_lines(line):
    found = json.loads(answer(SlotMemo(), line))
    assert found.keys() in ({"next"}, {"error"})
