"""Durations as people write them: `90s`, `10m`, `2h`, `1h30m`, `1d`. A day is 24 hours that pass, never a date."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from detent.domain.errors import SpecError, quoted
from detent.domain.limits import MAX_INTERVAL

_UNITS: Final = {
    "w": timedelta(weeks=1),
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
    "ms": timedelta(milliseconds=1),
}
_PART: Final = re.compile(r"(\d{1,12})(ms|[wdhms])", re.ASCII)
_WHOLE: Final = re.compile(r"(?:\d{1,12}(?:ms|[wdhms])){1,6}", re.ASCII)
_LONGEST: Final = 64


def parse_duration(text: object, field: str) -> timedelta:
    """A positive duration of at most ten years."""
    if not isinstance(text, str):
        raise SpecError(
            "a duration is a text such as 90s, 10m or 2h",
            code="bad_duration",
            field=field,
        )
    if len(text) > _LONGEST or not _WHOLE.fullmatch(text):
        raise SpecError(
            f"{quoted(text)} is no duration: write a whole number and a unit, such as 90s, 10m, 2h or 1h30m",
            code="bad_duration",
            field=field,
            token=text[:_LONGEST],
        )
    try:
        total = sum((int(n) * _UNITS[unit] for n, unit in _PART.findall(text)), timedelta())
    except OverflowError:
        total = timedelta.max
    if not timedelta() < total <= MAX_INTERVAL:
        wrong = "is longer than ten years" if total else "is no time at all"
        raise SpecError(
            f"{quoted(text)} {wrong}: allowed is 1ms to {format_duration(MAX_INTERVAL)}",
            code="bad_duration",
            field=field,
            token=text,
        )
    return total


def format_duration(duration: timedelta) -> str:
    """The shortest spelling that reads back as the same duration."""
    parts, rest = [], duration
    for unit in ("d", "h", "m", "s", "ms"):
        number, rest = divmod(rest, _UNITS[unit])
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts) or "0s"


def words_of(duration: timedelta) -> str:
    """In English: `1 hour 30 minutes`."""
    names = {"d": "day", "h": "hour", "m": "minute", "s": "second", "ms": "millisecond"}
    parts = [
        f"{number} {names[unit]}{'' if number == '1' else 's'}"
        for number, unit in _PART.findall(format_duration(duration))
    ]
    return " ".join(parts)
