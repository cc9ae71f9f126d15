"""`Retry-After`: seconds, or a date."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

_MOST_DIGITS: Final = 9


def read_retry_after(value: bytes | None, as_of: datetime) -> timedelta | None:
    """How long from now; None if nothing sensible is said."""
    if value is None:
        return None
    text = value.decode("latin-1").strip()
    if text.isascii() and text.isdigit():
        return timedelta(seconds=int(text)) if len(text) <= _MOST_DIGITS else timedelta.max
    try:
        at = parsedate_to_datetime(text[:60])
        return max(timedelta(), (at if at.tzinfo else at.replace(tzinfo=UTC)) - as_of)
    except (ValueError, OverflowError):
        return None
