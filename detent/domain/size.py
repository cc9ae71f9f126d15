"""Sizes of memory as people write them: `512M`, `2G`."""

from __future__ import annotations

import re
from typing import Final

from detent.domain.errors import SpecError, quoted

_UNITS: Final = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_WHOLE: Final = re.compile(r"(\d{1,6})([KMGT])(?:i?B)?", re.ASCII)


def parse_size(text: object, field: str) -> int:
    """In bytes. A K is 1,024 of them."""
    found = _WHOLE.fullmatch(text) if isinstance(text, str) and len(text) <= 16 else None
    if found is None or not int(found[1]):
        raise SpecError(
            f"{quoted(str(text))} is no size: write a whole number and K, M, G or T, such as 512M",
            code="bad_size",
            field=field,
        )
    return int(found[1]) * _UNITS[found[2]]


def format_size(size: int) -> str:
    """The largest unit that leaves a whole number; else in bytes."""
    for letter, unit in reversed(_UNITS.items()):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{letter}"
    return f"{size} bytes"
