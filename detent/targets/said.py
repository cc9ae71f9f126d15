"""What a task returned or raised, in words: bounded, storable, and never a reason to fail."""

from __future__ import annotations

import json
import os
import traceback
from types import TracebackType
from typing import Final

from detent.targets.executor import run_to_its_end

MOST_EXCERPT: Final = 2_000
MOST_ERROR: Final = 500
_FRAMES: Final = 10
_OURS: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # noqa: PTH100, PTH120


def said_result(result: object) -> str:
    """As JSON, as far as it goes."""
    text, error = run_to_its_end(lambda: _json(result))
    if error is not None:
        text = f"a {type(result).__name__} that can't be written as JSON"
    return storable(str(text), MOST_EXCERPT)


def said_exception(error: BaseException) -> tuple[str, str | None]:
    """The message, and the end of the traceback without the frames that are ours."""
    message = "".join(traceback.format_exception_only(error)).strip()
    begin = error.__traceback__
    while begin is not None and begin.tb_frame.f_code.co_filename.startswith(_OURS):
        begin = begin.tb_next
    return storable(message, MOST_ERROR), _trace(begin)


def storable(text: str, most: int) -> str:
    """PostgreSQL stores neither NUL nor half a surrogate pair."""
    return text[:most].replace("\0", "\\0").encode(errors="backslashreplace").decode()


def _trace(begin: TracebackType | None) -> str | None:
    if begin is None:
        return None
    shown = "".join(traceback.format_list(traceback.extract_tb(begin)[-_FRAMES:]))
    return storable(shown, MOST_EXCERPT)


def _json(result: object) -> str:
    """A large one is written no further than it is kept."""
    parts: list[str] = []
    length = 0
    for part in json.JSONEncoder(default=repr, ensure_ascii=False).iterencode(result):
        parts.append(part)
        length += len(part)
        if length > MOST_EXCERPT:
            break
    return "".join(parts)
