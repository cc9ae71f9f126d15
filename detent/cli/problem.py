"""How a problem is shown: the message, and for a wrong input a caret under the token."""

from __future__ import annotations

import json
import sys
from typing import NoReturn

from detent.domain.errors import DetentError, SpecError

WRONG_INPUT = 2
_AROUND = 60


def fail(error: DetentError) -> NoReturn:
    """Print what was wrong and what to do, and end with exit code 2."""
    print(f"detent: {error.message}", file=sys.stderr)
    sys.exit(WRONG_INPUT)


def refuse(error: SpecError, text: str | None = None, *, as_json: bool = False) -> NoReturn:
    """Print the error and end with exit code 2."""
    if as_json:
        print(json.dumps({"error": error.to_json()}))
    else:
        print(f"detent: {error.message}", file=sys.stderr)
        if text is not None:
            print(caret(text, error), file=sys.stderr)
    sys.exit(WRONG_INPUT)


def caret(text: str, error: SpecError) -> str:
    """The part of the text around the error, and ^ under the token."""
    begin = max(0, error.position - _AROUND)
    plain = text.replace("\t", " ")  # as wide as it is printed, so that the caret stands right
    shown = "".join(c if c.isprintable() and c.isascii() else "?" for c in plain)
    width = max(1, min(len(error.token), _AROUND, len(text) - error.position))
    return f"  {shown[begin : begin + 2 * _AROUND]}\n  {' ' * (error.position - begin)}{'^' * width}"
