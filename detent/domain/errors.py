"""The tree of errors. Each has a stable code, for programs, and a message that says what to do, for people."""

from __future__ import annotations

from typing import Final


class DetentError(Exception):
    """The root: everything that Detent raises on purpose."""

    code: str = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message: Final = message
        if code is not None:
            self.code = code


class SpecError(DetentError):
    """Something a person wrote can't be understood or must not be accepted.

    `position` counts characters from 0 in the text that was given for `field`; `token` is what stands there.
    """

    def __init__(self, message: str, *, code: str, field: str, token: str = "", position: int = 0) -> None:
        super().__init__(message, code=code)
        self.field: Final = field
        self.token: Final = token
        self.position: Final = position

    def within(self, field: str, offset: int = 0) -> SpecError:
        """The same error, seen from the larger text or structure that holds this one."""
        return SpecError(
            self.message,
            code=self.code,
            field=field,
            token=self.token,
            position=self.position + offset,
        )

    def to_json(self) -> dict[str, str | int]:
        return {
            "code": self.code,
            "message": self.message,
            "field": self.field,
            "token": self.token,
            "position": self.position,
        }


class TooManySlots(DetentError):
    """A walk over slots reached its bound."""

    code = "too_many_slots"


UNREADABLE: Final = (
    DetentError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""What reading a stored text may raise that this version doesn't understand, or that somebody wrote by hand."""

_SAID_AT_MOST: Final = 500


def said(error: BaseException) -> str:
    """An error in one line, for the record."""
    return f"{type(error).__name__}: {error}"[:_SAID_AT_MOST]


SHOWN_AT_MOST: Final = 40


def quoted(text: str) -> str:
    """A hostile or long text, safe to put into a message, a log line or a terminal."""
    shown = text if len(text) <= SHOWN_AT_MOST else text[:SHOWN_AT_MOST] + "…"
    return '"' + "".join(c if c.isprintable() and c.isascii() else _escaped(c) for c in shown) + '"'


def _escaped(character: str) -> str:
    return "…" if character == "…" else f"\\u{ord(character):04x}"
