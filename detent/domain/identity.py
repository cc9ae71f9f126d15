"""The firing id: opaque to receivers, but it holds the firing's key, so a read by id finds its partition."""

from __future__ import annotations

from base64 import b32decode, b32encode
from datetime import datetime, timedelta
from typing import Final

from detent.domain.errors import SpecError, quoted
from detent.domain.instant import EPOCH
from detent.domain.limits import EARLIEST, LATEST

_PREFIX: Final = "f_"
_MICROSECOND: Final = timedelta(microseconds=1)
_LENGTH: Final = 26
_LARGEST: Final = 2**63 - 1


def firing_id(schedule_id: int, scheduled_for: datetime) -> str:
    """`f_` and 26 characters. Microseconds are signed: slots before 1970 exist."""
    micros = (scheduled_for - EPOCH) // _MICROSECOND
    packed = schedule_id.to_bytes(8, "big") + micros.to_bytes(8, "big", signed=True)
    return _PREFIX + b32encode(packed).decode().rstrip("=").lower()


def firing_key(text: str) -> tuple[int, datetime]:
    """The schedule and the instant that an id stands for."""
    body = text.removeprefix(_PREFIX)
    if not text.startswith(_PREFIX) or len(body) != _LENGTH or body != body.lower():
        raise _no_id(text)
    try:
        packed = b32decode(body.upper() + "=" * 6)
        schedule_id, micros = (
            int.from_bytes(packed[:8], "big"),
            int.from_bytes(packed[8:], "big", signed=True),
        )
        instant = EPOCH + micros * _MICROSECOND
    except (ValueError, OverflowError):
        raise _no_id(text) from None
    if schedule_id > _LARGEST or not EARLIEST <= instant < LATEST or firing_id(schedule_id, instant) != text:
        raise _no_id(text)
    return schedule_id, instant


def off_the_millisecond(instant: datetime) -> datetime:
    """The same microsecond or the next: slots lie on whole milliseconds, what is manual never does."""
    return instant if instant.microsecond % 1000 else instant + _MICROSECOND


def _no_id(text: str) -> SpecError:
    return SpecError(
        f"{quoted(text)} is no firing id: it looks like f_{'a' * _LENGTH}",
        code="bad_id",
        field="id",
        token=text[:40],
    )
