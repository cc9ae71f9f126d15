r"""Templates: `{{ scheduled_for }}` in a text of the payload, and `{{ secret.api_token }}` in a header.

A name between two pairs of braces, and nothing else: no expressions, no calls, nothing that could loop or fail when it
is two in the night. `\{{` stands for two braces. What is put in is text and is never read as a template again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from detent.domain.errors import SpecError, quoted

_HOLE: Final = re.compile(r"\\?\{\{(?P<inside>.{0,100}?)\}\}|\\?\{\{", re.DOTALL)
_NAME: Final = re.compile(r"\s*([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)?)\s*")


def is_template(text: str) -> bool:
    return "{{" in text


def names_in(text: str) -> list[str]:
    """In order, of a template that was checked."""
    return [match["inside"].strip() for match in _HOLE.finditer(text) if not match[0].startswith("\\")]


def refuse_unknown(text: str, known: Collection[str], field: str, *, prefix: str = "") -> None:
    """`prefix`: names that begin with it are known, too, whatever follows."""
    for match in _HOLE.finditer(text):
        if match[0].startswith("\\"):
            continue
        name = _NAME.fullmatch(match["inside"] or "")
        if name is not None and (name[1] in known or (prefix and name[1].startswith(prefix))):
            continue
        has = ", ".join([*known, *([f"{prefix}NAME"] if prefix else [])])
        raise SpecError(
            f"{quoted(match[0])} is nothing that a template has: {has}; for two braces write \\{{{{",
            code="bad_template", field=field, token=match[0][:40], position=match.start(),
        )  # fmt: skip


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with its names replaced, once."""

    def put(match: re.Match[str]) -> str:
        if match[0].startswith("\\"):
            return match[0][1:]
        return values[match["inside"].strip()]

    return _HOLE.sub(put, text)


def fill_all(value: object, values: Mapping[str, str]) -> object:
    """Every text of a JSON value; keys are left alone."""
    match value:
        case str():
            return fill(value, values) if is_template(value) else value
        case list():
            return [fill_all(one, values) for one in value]
        case dict():
            return {key: fill_all(one, values) for key, one in value.items()}
        case _:
            return value


def texts_of(value: object) -> list[str]:
    """Every text of a JSON value that is a template."""
    match value:
        case str():
            return [value] if is_template(value) else []
        case list():
            return [text for one in value for text in texts_of(one)]
        case dict():
            return [text for one in value.values() for text in texts_of(one)]
        case _:
            return []
