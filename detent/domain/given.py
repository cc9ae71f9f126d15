"""Reading what a person gave, key by key: objects with known keys, lists, and words of a policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import Final, TypeVar

from detent.domain.errors import SpecError, quoted

Choice = TypeVar("Choice", bound=StrEnum)

_REPEATED: Final = 99
"""Characters of what was given that an error repeats."""


def mapping(value: object, known: Iterable[str], field: str) -> Mapping[str, object]:
    """An object that has none but these keys."""
    if not isinstance(value, Mapping):
        message = f"{field} is an object with {', '.join(known)}"
        raise SpecError(message, code="not_an_object", field=field)
    for key in value:
        if key not in known:
            raise unknown_key(key, known, field)
    return value


def listed(given: Mapping[str, object], key: str, field: str) -> Sequence[object]:
    """The list at that key; none if it is missing."""
    value = given.get(key, ())
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise SpecError(f"{key} is a list", code="not_a_list", field=field)
    return value


def choice(given: Mapping[str, object], key: str, options: type[Choice]) -> Choice:
    """One of a policy's words; the first is the default."""
    value = given.get(key)
    if value is None:
        return next(iter(options))
    if isinstance(value, str) and value in list(options):
        return options(value)
    message = f"{key} is one of {', '.join(options)}"
    raise SpecError(message, code="bad_value", field=key, token=token_of(value))


def token_of(value: object) -> str:
    """What an error about this value repeats of it."""
    return value[:_REPEATED] if isinstance(value, str) else ""


def unknown_key(key: object, known: Iterable[str], field: str) -> SpecError:
    """An error that guesses what was meant."""
    if not isinstance(key, str):
        return SpecError(f"{field} has a key that is no text", code="unknown_field", field=field)
    shown, known = key[:40], list(known)
    if key == "anchor":
        advice = "start_at is the anchor"
    elif near := get_close_matches(shown.lower(), known, n=1):
        advice = f"did you mean {near[0]}?"
    else:
        advice = f"known are {', '.join(known)}"
    message = f"{quoted(key)} is no field of {field}: {advice}"
    return SpecError(message, code="unknown_field", field=field, token=shown)
