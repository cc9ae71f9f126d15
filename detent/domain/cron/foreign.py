"""Lines of crontabs and notations of other tools, recognised so that the error can point to the right form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from detent.domain.cron.field import field_starts, parse_field
from detent.domain.cron.units import ALIASES, UNITS, Unit
from detent.domain.errors import SpecError, quoted

_NOTATIONS: Final = tuple(
    (re.compile(pattern, re.ASCII | re.IGNORECASE), advice)
    for pattern, advice in (
        (r"#.*", "a comment is no expression"),
        (r"(?:CRON_)?TZ=.*", "the zone is a field of its own: remove the prefix and set the timezone"),
        (r"@reboot\b.*", "a boot is no time: @reboot has no equal here; start such work with the machine"),
        (r"rate\(.*", "for EventBridge's rate(5 minutes) write @every 5m"),
        (
            r"cron\(.*",
            "for EventBridge's cron(0 5 * * ? *) write 0 5 * * *: without the brackets and the year",
        ),
        (r"(?:at|in|on)\b.*", "for one instant use the trigger at: 2026-11-19T08:00:00Z, or in 10m"),
        (r"R?\d*/?P[T\d].*", "for ISO 8601's PT5M write @every 5m"),
        (r"every\b.*", "for every 5 minutes write @every 5m"),
        (r"@every.*", "write @every with a duration: @every 90s, @every 10m or @every 2h"),
        (r"(?:RRULE:)?FREQ=.*", "a recurrence rule goes into the trigger rrule"),
        (
            r"(?:BY[A-Z]+|INTERVAL|COUNT|UNTIL|DTSTART)[=:;].*",
            "a recurrence rule has FREQ=, such as FREQ=DAILY",
        ),
        (r"(?:\d+(?:ms|[smhdw]))+", "for a fixed distance write @every before the duration"),
        (
            r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z,.]*\s+)?(?:\d{4}|\*)-[\d*]+-[\d*]+(?:\s.*|T.*)?",
            "that is a calendar date: for systemd's *-*-* 02:00:00 write 0 2 * * *, for one instant use the trigger at",
        ),
        (r"\*:[\d*/].*", "for systemd's *:0/15 write */15 * * * *"),
        (r"\d{1,2}(?::\d\d.*|\s*[ap]m)", "for 02:30 every day write 30 2 * * *"),
        (
            r"(?:hourly|daily|midnight|weekly|monthly|quarterly|yearly|annually)",
            "aliases begin with @, such as @daily",
        ),
    )
)


_ZONE: Final = re.compile(r"[A-Z][A-Za-z]+/[A-Z]\S*|UTC|GMT|Z", re.ASCII)


def explained(expression: str, error: SpecError) -> SpecError:
    """A better error than that of the parser, if what was meant can be told; positions are in the expression."""
    if expression.startswith("@") and not expression.lower().startswith(("@every", "@reboot")):
        return _alias(expression)
    for notation, advice in _NOTATIONS:
        if notation.fullmatch(expression):
            return _foreign(f"{quoted(expression)} is no cron expression: {advice}", expression, 0)
    return _follower(expression) or _year_last(expression) or error


def _alias(expression: str) -> SpecError:
    alias = expression.split(maxsplit=1)[0].lower()
    if alias in ALIASES:
        return _foreign("a command follows the alias: an expression is the alias alone", expression, 1)
    near = get_close_matches(alias, ALIASES, n=1)
    advice = f"did you mean {near[0]}?" if near else f"known are {', '.join(ALIASES)}"
    message = f"{quoted(expression)} is no alias: {advice}"
    return SpecError(message, code="unknown_alias", field="cron", token=expression)


def _follower(expression: str) -> SpecError | None:
    """A comment, a zone or a command behind the fields."""
    fields = expression.split()
    more = fields[5:]
    comment = next((n for n, field in enumerate(more, 5) if field.startswith("#")), None)  # not so in 2#1
    if comment is not None:
        message = "a comment follows the fields: an expression is the fields alone"
        return _foreign(message, expression, comment)
    if more and _ZONE.fullmatch(more[-1]):
        message = "a zone follows the fields: remove it and set the timezone"
        return _foreign(message, expression, len(fields) - 1)
    if any("/" in f[:2] or (f[0].isalpha() and len(f) > 3) for f in more) and _reads(fields[:5], UNITS[1:6]):
        message = "a command follows the five fields: an expression is the fields alone"
        return _foreign(message, expression, 5)
    return None


def _year_last(expression: str) -> SpecError | None:
    """Six fields as EventBridge has them: to follow the advice on one of them would give another meaning."""
    fields = expression.split()
    if len(fields) != 6 or not _reads(fields, UNITS[1:]):
        return None
    message = f"six fields begin with the seconds: with the year last write 0 {expression}"
    return _foreign(message, expression, 5)


def _reads(fields: Sequence[str], units: Sequence[Unit]) -> bool:
    try:
        for unit, field in zip(units, fields, strict=True):
            parse_field(unit, field)
    except SpecError:
        return False
    return True


def _foreign(message: str, expression: str, number: int) -> SpecError:
    """An error from that field on to the end."""
    position = field_starts(expression)[number]
    token = expression[position:]
    return SpecError(message, code="foreign_notation", field="cron", token=token, position=position)
