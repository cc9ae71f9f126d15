"""`detent next --jsonl`: one answer a line, in order, one process for the whole stream.

Lines are answered as they arrive, so the command also serves as a co-process of another program.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import BinaryIO, Final

from detent import clock
from detent.cli.streams import bytes_in, bytes_out
from detent.domain.bulk import Ask, SlotMemo
from detent.domain.errors import SpecError
from detent.domain.given import choice, unknown_key
from detent.domain.instant import format_instant, parse_instant
from detent.domain.wallclock import Fold, Gap

_KEYS: Final = ("expr", "tz", "after", "count", "gap", "fold", "identity")
_MAX_COUNT: Final = 10_000
_DEFAULT_COUNT: Final = 5
_MAX_LINE: Final = 1 << 16
_CHUNK: Final = 1 << 18


def answer_stream() -> None:
    """Read standard input to its end."""
    memo, out = SlotMemo(), bytes_out()
    for lines in _batches(bytes_in()):
        for (
            line
        ) in lines:  # each is written before the next is asked for: ten thousand slots are a quarter megabyte
            out.write(answer(memo, line).encode())
        out.flush()


def answer(memo: SlotMemo, line: bytes | None) -> str:
    """One line in, one line out: the next slots, or the error."""
    try:
        return json.dumps({"next": _next(memo, _object(line))}) + "\n"
    except SpecError as error:
        return json.dumps({"error": error.to_json()}) + "\n"


def _batches(stream: BinaryIO) -> Iterator[list[bytes | None]]:
    """Whole lines as they arrive; None stands for one that is too long, which is not kept."""
    rest, skipping = b"", False
    while chunk := stream.read1(_CHUNK):  # type: ignore[attr-defined]
        *whole, rest = (rest + chunk).split(b"\n")
        lines: list[bytes | None] = [line if len(line) <= _MAX_LINE else None for line in whole]
        if skipping and lines:
            lines[0], skipping = None, False
        if len(rest) > _MAX_LINE:
            rest, skipping = b"", True
        yield lines
    if rest or skipping:
        yield [None if skipping else rest]


def _object(line: bytes | None) -> Mapping[str, object]:
    if line is None:
        raise _refused("too_long", f"a line has at most {_MAX_LINE} bytes")
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _refused("bad_json", f"the line is no JSON object: {error}") from None
    if not isinstance(found, dict):
        raise _refused("bad_json", "the line is no JSON object")
    for key in found:
        if key not in _KEYS:
            raise unknown_key(key, _KEYS, "line")
    if "expr" not in found:
        raise _refused("missing_field", "expr is missing")
    return found


def _next(memo: SlotMemo, given: Mapping[str, object]) -> list[str]:
    after = clock.now() if "after" not in given else parse_instant(given["after"], "after")
    rule = memo.rule(
        Ask(
            _text(given, "expr", ""),
            _text(given, "tz", "UTC"),
            after,
            choice(given, "gap", Gap),
            choice(given, "fold", Fold),
            _text(given, "identity", ""),
        )
    )
    slots: list[datetime] = []
    for _ in range(_count(given)):
        slot = rule.next(after)
        if slot is None:
            break
        slots.append(slot)
        after = slot
    if not slots:
        raise SpecError("never fires: no slot within the next 50 years", code="never_fires", field="expr")
    return [format_instant(slot) for slot in slots]


def _text(given: Mapping[str, object], key: str, default: str) -> str:
    value = given.get(key, default)
    if not isinstance(value, str):
        raise SpecError(f"{key} is a text", code="not_a_text", field=key)
    return value


def _count(given: Mapping[str, object]) -> int:
    count = given.get("count", _DEFAULT_COUNT)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _MAX_COUNT:
        raise SpecError(f"count is a whole number from 1 to {_MAX_COUNT}", code="out_of_range", field="count")
    return count


def _refused(code: str, message: str) -> SpecError:
    return SpecError(message, code=code, field="line")
