"""Notations of other tools, recognised so that the error can point to the right form."""

from __future__ import annotations

import re
from typing import Final

_NOTATIONS: Final = tuple(
    (re.compile(pattern, re.ASCII | re.IGNORECASE), advice)
    for pattern, advice in (
        (r"#.*", "a comment is no expression"),
        (r"(?:CRON_)?TZ=.*", "the zone is a field of its own: remove the prefix and set the timezone"),
        (r"@reboot\b.*", "a boot is no time: @reboot has no equal here; start such work with the machine"),
        (r"rate\(.*", "for EventBridge's rate(5 minutes) write @every 5m"),
        (r"cron\(.*", "remove cron( ) around the fields"),
        (r"at\(.*", "for one instant use the trigger at: 2026-11-19T08:00:00Z"),
        (r"R?\d*/?P[T\d].*", "for ISO 8601's PT5M write @every 5m"),
        (r"every\b.*", "for every 5 minutes write @every 5m"),
        (r"@every.*", "write @every with a duration: @every 90s, @every 10m or @every 2h"),
        (r"(?:RRULE:)?FREQ=.*", "a recurrence rule goes into the trigger rrule"),
        (r"(?:\d+(?:ms|[smhdw]))+", "for a fixed distance write @every before the duration"),
        (
            r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z,.]*\s+)?(?:\d{4}|\*)-[\d*]+-[\d*]+(?:\s.*|T.*)?",
            "that is a calendar date: for systemd's *-*-* 02:00:00 write 0 2 * * *, for one instant use the trigger at",
        ),
        (r"\d{1,2}:\d\d.*", "for 02:30 every day write 30 2 * * *"),
        (
            r"(?:hourly|daily|midnight|weekly|monthly|quarterly|yearly|annually)",
            "aliases begin with @, such as @daily",
        ),
    )
)


def advice_on(text: str) -> str | None:
    """What to write instead, if this is another tool's notation."""
    return next((advice for notation, advice in _NOTATIONS if notation.fullmatch(text)), None)
