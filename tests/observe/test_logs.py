"""Events as lines."""

from __future__ import annotations

import io
import json
from dataclasses import fields
from datetime import UTC, datetime

import pytest

from detent import clock
from detent.observe import events
from detent.observe.events import AttemptEnded, Event, LoopFailed, NodeBuried, Planned, Started
from detent.observe.logs import MOST_A_SECOND, Log, level_of, name_of

SLOT = datetime(2026, 11, 19, 8, tzinfo=UTC)
EVERY = [
    kind
    for kind in vars(events).values()
    if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event
]


def an(kind: type[Event], **given: object) -> Event:
    samples = {"datetime": SLOT, "int": 1, "float": 0.5, "str": "word", "tuple[str, ...]": ("a", "b c")}
    plain = {field.name: samples[str(field.type).removesuffix(" | None")] for field in fields(kind)}
    return kind(**{**plain, **given})


def lines(*told: Event, as_json: bool = False, but: tuple[type[Event], ...] = ()) -> list[str]:
    stream = io.StringIO()
    log = Log(stream, as_json=as_json, but=but)
    for event in told:
        log(event)
    return stream.getvalue().splitlines()


@pytest.fixture
def at(monkeypatch):
    """The second in which it is told."""
    now = [datetime(2026, 11, 19, 8, 0, 0, 123_456, tzinfo=UTC)]
    monkeypatch.setattr(clock, "now", lambda: now[0])

    def to(second: int) -> None:
        now[0] = now[0].replace(second=second)

    return to


def test_a_line_for_people(at):
    assert lines(Started(what="worker", detail="pools default")) == [
        '2026-11-19T08:00:00.123Z info    started what=worker detail="pools default"'
    ]
    assert lines(LoopFailed(loop="plan", error='a "bad"\nday', failures=2)) == [
        '2026-11-19T08:00:00.123Z warning loop_failed loop=plan error="a \\"bad\\"\\nday" failures=2'
    ]


# R-SEE-4
@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_every_event_is_one_line_of_either_kind(at, kind):
    event = an(kind)
    if level_of(event) is None:
        assert lines(event) == []
        return
    (told,) = map(json.loads, lines(event, as_json=True))
    assert told["event"] == name_of(event)
    assert set(told) == {"at", "level", "event", *(field.name for field in fields(event))}
    assert len(lines(event)) == 1


def test_what_the_ledger_holds_is_not_told_but_for_what_went_wrong():
    assert level_of(an(Planned)) is None
    assert level_of(an(AttemptEnded, outcome="succeeded")) is None
    assert level_of(an(AttemptEnded, outcome="failed")) == "warning"
    assert level_of(an(NodeBuried, lost=0)) == "info"
    assert level_of(an(NodeBuried, lost=3)) == "warning"


def test_several_names_are_one_value(at):
    (line,) = lines(an(events.ZoneRulesChanged))
    assert '"a, b c"' in line


def test_hostile_text_stays_on_its_line(at):
    (line,) = lines(LoopFailed(loop="x", error="\n2026 info fake\x1b[2J\r", failures=1))
    assert "\x1b" not in line
    assert line.endswith('error="\\n2026 info fake\\u001b[2J\\r" failures=1')


def test_a_flood_is_cut_and_counted(at):
    stream = io.StringIO()
    log = Log(stream)
    for _ in range(MOST_A_SECOND + 7):
        log(an(AttemptEnded, outcome="failed"))
    log(an(Started))
    at(1)
    log(an(AttemptEnded, outcome="failed"))
    log(an(AttemptEnded, outcome="failed"))
    told = stream.getvalue().splitlines()
    assert len(told) == MOST_A_SECOND + 3
    assert "started" in told[MOST_A_SECOND], "one kind doesn't silence another"
    assert told[-2].endswith("left_out_before=7")
    assert "left_out" not in told[-1]


def test_a_reader_that_is_gone_stops_nobody():
    stream = io.StringIO()
    stream.close()
    Log(stream)(an(Started))


def test_what_is_told_elsewhere_is_left_out(at):
    assert lines(an(Started), an(NodeBuried), but=(Started,))[0].endswith("node=1 lost=1")
