"""Events as lines: for people, or JSON for machines. A flood is cut, and what was cut is counted."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import suppress
from dataclasses import fields
from datetime import datetime
from typing import Final, TextIO

from detent import clock
from detent.domain.instant import format_instant
from detent.observe import events
from detent.observe.events import AttemptEnded, Event, WaitingEnded

MOST_A_SECOND: Final = 20
"""Lines of one kind. A target that fails thousands of times a second says the same thing each time."""

_WARNINGS: Final = (
    events.ProcessEnded, events.DatabaseDied, events.DeclarationRefused, events.PoolNotServed, events.LoopFailed,
    events.StoreLost, events.LeaseLost, events.LagBreaker, events.ScheduleParked, events.SchedulePaused,
    events.RaisedTooLate, events.ResultsStale, events.OverLong, events.TaskUnknown, events.SlotsMoved,
    events.ZoneRulesOutdated, events.PartitionHeldBack, events.UpkeepRefused,
)  # fmt: skip
_UNTOLD: Final = (events.Planned, events.FiringStarted)
"""The ledger has them."""
_WORD: Final = re.compile(r"(?<!^)(?=[A-Z])")
_PLAIN: Final = re.compile(r"[\w.:/+@-]+")


class Log:
    """A listener that writes a line an event."""

    def __init__(self, stream: TextIO, *, as_json: bool = False, but: tuple[type[Event], ...] = ()) -> None:
        """`but`: told elsewhere."""
        self._stream = stream
        self._but = but
        self._line = _json_line if as_json else _console_line
        self._second = 0
        self._written: Counter[str] = Counter()
        self._left: Counter[str] = Counter()

    def __call__(self, event: Event) -> None:
        level = level_of(event)
        if level is None or isinstance(event, self._but):
            return
        now, name = clock.now(), name_of(event)
        left_out = self._left_out(name, int(now.timestamp()))
        if left_out is None:
            return
        parts = {field.name: getattr(event, field.name) for field in fields(event)}
        if left_out:
            parts["left_out_before"] = left_out
        with suppress(OSError, ValueError):  # nobody reads any more: no reason to stop working
            self._stream.write(self._line(now, level, name, parts) + "\n")
            self._stream.flush()

    def _left_out(self, name: str, second: int) -> int | None:
        """None: this one is, too. Else how many were since the last line of the kind."""
        if second != self._second:
            self._second, self._written = second, Counter()
        self._written[name] += 1
        if self._written[name] > MOST_A_SECOND:
            self._left[name] += 1
            return None
        return self._left.pop(name, 0)


def level_of(event: Event) -> str | None:
    """None: not worth a line."""
    match event:
        case AttemptEnded():
            return "warning" if event.outcome != "succeeded" else None
        case WaitingEnded():
            return "warning" if event.outcome == "missed" else "info"
        case events.NodeBuried():  # one that left in peace is buried, too
            return "warning" if event.lost else "info"
        case _ if isinstance(event, _UNTOLD):
            return None
        case _:
            return "warning" if isinstance(event, _WARNINGS) else "info"


def name_of(event: Event) -> str:
    return _WORD.sub("_", type(event).__name__).lower()


def _json_line(now: datetime, level: str, name: str, parts: dict[str, object]) -> str:
    line = {"at": format_instant(now), "level": level, "event": name, **parts}
    return json.dumps(line, default=_text, ensure_ascii=False)


def _console_line(now: datetime, level: str, name: str, parts: dict[str, object]) -> str:
    shown = "".join(f" {key}={_shown(value)}" for key, value in parts.items() if value is not None)
    return f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z {level:<7} {name}{shown}"


def _shown(value: object) -> str:
    text = f"{value:.3f}" if isinstance(value, float) else _text(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return format_instant(value)
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
