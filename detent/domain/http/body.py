"""The body of a request: a schedule's payload as JSON, as a form, or as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Final
from urllib.parse import urlencode

from detent.domain.errors import SpecError
from detent.domain.http.template import fill_all, refuse_unknown, texts_of

SLOT_NAMES: Final = ("scheduled_for", "schedule", "firing", "attempt", "catch_up", "fencing_token")
"""What a template in a payload may name."""


class Body(StrEnum):
    JSON = "json"
    FORM = "form"
    RAW = "raw"


CONTENT_TYPES: Final = {
    Body.JSON: "application/json",
    Body.FORM: "application/x-www-form-urlencoded",
    Body.RAW: "text/plain; charset=utf-8",
}


def refuse_payload(payload: object, body: Body, *, has_body: bool) -> None:
    """What can't be sent is refused when it is registered."""
    if not has_body and payload not in ({}, None):
        raise _refused("GET and HEAD have no body: put it into the URL, or use POST")
    if body is Body.RAW and has_body and not isinstance(payload, str):
        raise _refused("with body: raw, the payload is a text")
    if body is Body.FORM and has_body and not _is_form(payload):
        raise _refused(
            "with body: form, the payload is an object of texts, numbers, true, false, and lists of them"
        )
    for text in texts_of(payload):
        refuse_unknown(text, SLOT_NAMES, "payload")


def has_templates(payload: object) -> bool:
    return bool(texts_of(payload))


def write_body(payload: object, body: Body, values: Mapping[str, str] | None = None) -> bytes:
    """`values` are those of its templates, if it has any."""
    filled = payload if values is None else fill_all(payload, values)
    match body:
        case Body.RAW:
            return str(filled).encode()
        case Body.FORM:
            return urlencode(_pairs(filled)).encode()
        case Body.JSON:
            return json.dumps(filled, separators=(",", ":"), ensure_ascii=False).encode()


def _is_form(payload: object) -> bool:
    return isinstance(payload, Mapping) and all(
        isinstance(one, str | int | float)
        for value in payload.values()
        for one in (value if isinstance(value, list) else [value])
    )


def _pairs(filled: object) -> list[tuple[str, str]]:
    if not isinstance(filled, Mapping):
        raise _refused("a form is an object")
    return [
        (str(key), _text(one))
        for key, value in filled.items()
        for one in (value if isinstance(value, list) else [value])
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _refused(message: str) -> SpecError:
    return SpecError(message, code="bad_payload", field="payload")
