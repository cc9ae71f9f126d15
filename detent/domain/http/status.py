"""Sets of status codes as people write them: 404, `2xx`, `200-204`."""

from __future__ import annotations

import re
from typing import Final

from detent.domain.errors import SpecError

_MOST: Final = 100
_FORM: Final = re.compile(r"(?P<hundred>[2-5])xx|(?P<low>[2-5]\d\d)(?:-(?P<high>[2-5]\d\d))?", re.ASCII)

Statuses = frozenset[int]


def read_statuses(given: object, field: str) -> Statuses:
    if not isinstance(given, list) or len(given) > _MOST:
        raise _refused(field, "a list of status codes is meant, such as [200, 204, 3xx]")
    return frozenset(code for one in given for code in _codes(one, field))


def _codes(one: object, field: str) -> range:
    form = None if isinstance(one, bool) else _FORM.fullmatch(str(one)[:20])
    if form is None:
        raise _refused(
            field, "a status is a number from 200 to 599, a class such as 2xx, or a range such as 200-204"
        )
    if form["hundred"]:
        return range(int(form["hundred"]) * 100, int(form["hundred"]) * 100 + 100)
    low, high = int(form["low"]), int(form["high"] or form["low"])
    if high < low:
        raise _refused(field, f"{low}-{high} runs backwards")
    return range(low, high + 1)


def _refused(field: str, message: str) -> SpecError:
    return SpecError(message, code="bad_status", field=field)


def codes(*ranges: range) -> Statuses:
    return frozenset(code for one in ranges for code in one)


SUCCESS: Final = codes(range(200, 300))
TRANSIENT: Final = frozenset({408, 409, 425, 429}) | codes(range(500, 600))
"""What may be otherwise in a while."""
GONE: Final = 410
ACCEPTED: Final = 202
