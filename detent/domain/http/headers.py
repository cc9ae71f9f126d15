"""Headers that a schedule may add to its requests: names and values that can't say more than one header."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from detent.domain.errors import SpecError, quoted
from detent.domain.http.template import refuse_unknown

MAX_HEADERS: Final = 50
MAX_SIZE: Final = 8 * 1024
"""Of all of them: servers refuse more."""
SECRET: Final = "secret."
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
_VALUE: Final = re.compile(r"[!-~](?:[ \t!-~]*[!-~])?")
_OURS: Final = frozenset({
    "host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "expect", "te", "trailer",
    "idempotency-key", "traceparent", "accept-encoding",
})  # fmt: skip
"""What the request says of itself, and must not say twice."""
_OUR_PREFIXES: Final = ("proxy-", "webhook-", "detent-")

Headers = tuple[tuple[str, str], ...]


def read_headers(given: object, field: str) -> Headers:
    if not isinstance(given, Mapping):
        raise _refused(field, "not_an_object", "headers is an object of names and texts")
    if len(given) > MAX_HEADERS:
        raise _refused(field, "too_many", f"a request has at most {MAX_HEADERS} headers of yours")
    seen: set[str] = set()
    for name, value in given.items():
        _refuse_name(name, field, seen)
        _refuse_value(value, f"{field}/{name}")
    if sum(len(name) + len(value) for name, value in given.items()) > MAX_SIZE:
        raise _refused(field, "too_long", f"headers are at most {MAX_SIZE >> 10} KiB in all")
    return tuple(given.items())


def _refuse_name(name: object, field: str, seen: set[str]) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise _refused(
            field,
            "bad_header",
            f"{quoted(str(name))} is no name of a header: letters, digits and dashes",
            str(name),
        )
    lower = name.lower()
    if lower in _OURS or lower.startswith(_OUR_PREFIXES):
        raise _refused(field, "bad_header", f"{name} is set by Detent: leave it out", name)
    if lower in seen:
        raise _refused(field, "bad_header", f"{name} is given twice", name)
    seen.add(lower)


def _refuse_value(value: object, field: str) -> None:
    if not isinstance(value, str) or not _VALUE.fullmatch(value):
        raise _refused(
            field, "bad_header", "the value of a header is visible ASCII in one line, without blanks at its ends",
            value if isinstance(value, str) else "",
        )  # fmt: skip
    refuse_unknown(value, (), field, prefix=SECRET)


def _refused(field: str, code: str, message: str, token: str = "") -> SpecError:
    return SpecError(message, code=code, field=field, token=token[:40])
