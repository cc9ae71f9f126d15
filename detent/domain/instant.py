"""Instants: aware UTC datetimes. Texts become instants, and instants texts, here only."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Final

from detent.domain.errors import SpecError, quoted
from detent.domain.limits import EARLIEST, LATEST

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND: Final = timedelta(milliseconds=1)

_LONGEST: Final = len("2026-11-19T08:00:00.123456789+00:00")
_ISO: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?"
    r"(?P<offset>[Zz]|[+-]\d\d:?\d\d)?",
    re.ASCII,
)


def seconds_of(instant: datetime) -> int:
    """Whole seconds since 1970, rounded down."""
    return math.floor((instant - EPOCH).total_seconds())


def ceil_seconds(instant: datetime) -> int:
    """Whole seconds since 1970, rounded up."""
    return math.ceil((instant - EPOCH).total_seconds())


def instant_of(seconds: int) -> datetime:
    return EPOCH + timedelta(seconds=seconds)


def just_before(instant: datetime) -> datetime:
    """What `next` must be asked with to get a slot at the instant itself."""
    return instant - timedelta.resolution


def on_whole_millisecond(instant: datetime) -> datetime:
    """The same instant or the first whole millisecond after it: a slot is never moved to an earlier time."""
    surplus = instant.microsecond % 1000
    return instant + timedelta(microseconds=1000 - surplus) if surplus else instant


def floor_millisecond(instant: datetime) -> datetime:
    return instant - timedelta(microseconds=instant.microsecond % 1000)


def format_instant(instant: datetime) -> str:
    """ISO 8601 in UTC with a Z; fractions only where there are any."""
    utc = instant.astimezone(UTC)
    digits = 0 if not utc.microsecond else 3 if utc.microsecond % 1000 == 0 else 6
    return utc.isoformat(timespec=("seconds", "milliseconds", "microseconds")[digits // 3])[:-6] + "Z"


def parse_instant(text: object, field: str) -> datetime:
    """ISO 8601 with an offset or a Z, between 1900 and 2200."""
    if not isinstance(text, str):
        raise _refused(field, "", "an instant is a text such as 2026-11-19T08:00:00Z")
    match = _ISO.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise _refused(field, text, f"{quoted(text)} is no instant: write it like 2026-11-19T08:00:00Z")
    if match["offset"] is None:
        raise _refused(field, text, f"{quoted(text)} has no offset: add Z for UTC, or an offset like +01:00")
    year, month, day, hour, minute = map(int, match.groups()[:5])
    fraction = int((match[7] or "0").ljust(9, "0")) // 1000
    try:
        wall = datetime(year, month, day, hour, minute, int(match[6] or 0), fraction, tzinfo=UTC)
        instant = wall - _offset(match["offset"])
    except (ValueError, OverflowError) as error:
        raise _refused(field, text, f"{quoted(text)} does not exist: {error}") from None
    if not EARLIEST <= instant < LATEST:
        raise _refused(
            field,
            text,
            f"{quoted(text)} is out of range: allowed are the years {EARLIEST.year} to {LATEST.year - 1}",
        )
    return instant


def _offset(text: str) -> timedelta:
    if text in "Zz":
        return timedelta()
    hours, minutes = int(text[1:3]), int(text[-2:])
    if hours > 23 or minutes > 59:
        raise ValueError("the offset from UTC must be less than a day")
    size = timedelta(hours=hours, minutes=minutes)
    return -size if text[0] == "-" else size


def _refused(field: str, token: str, message: str) -> SpecError:
    return SpecError(message, code="bad_instant", field=field, token=token[:_LONGEST])
