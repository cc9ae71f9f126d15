"""The zone of the person who reads, guessed as the C library does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from detent.domain.zone import Zone, zone, zone_names


def reader_zone(name: str | None = None) -> Zone:
    """The named zone; else that of TZ, /etc/localtime or /etc/timezone; else UTC."""
    if name is not None:
        return zone(name, "reader-tz")
    found = zone(next((guess for guess in _guesses() if guess in zone_names()), "UTC"))
    return zone("UTC") if found.offsets == (0,) else found


def _guesses() -> Iterator[str]:
    yield os.environ.get("TZ", "").removeprefix(":")
    try:
        yield str(Path("/etc/localtime").readlink()).partition("zoneinfo/")[2]
        yield Path("/etc/timezone").read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return
