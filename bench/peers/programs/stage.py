"""What a program in Python and the benchmark say to each other; `stage.mjs` is the same for JavaScript.

`program VERB JSON`. A worker makes the file <pid>.loaded when its code is there, waits for a line on stdin, makes
<pid>.working when it works, and ends when stdin does. Its handlers append pairs of doubles to <pid>.stamps: when the
job was due, and when it began, in seconds since 1970. Programs run where Detent isn't installed: nothing of it here.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from time import time  # noqa: TID251
from typing import Any

_FLUSH_SECONDS = 0.005


def verb() -> str:
    return sys.argv[1]


def told() -> dict[str, Any]:
    said: dict[str, Any] = json.loads(sys.argv[2])
    return said


class Stage:
    """Of a worker. Make it before the loop, which it holds up until the benchmark says go."""

    def __init__(self, folder: str) -> None:
        self._mark = Path(folder) / str(os.getpid())
        self._file = self._mark.with_suffix(".stamps").open("ab", buffering=0)
        self._pending = array("d")
        self._mark.with_suffix(".loaded").touch()
        sys.stdin.readline()

    def began(self, due: float) -> None:
        self._pending.extend((due, time()))

    def working(self, stop: Callable[[], None]) -> None:
        """Call it in the loop. `stop` is called when stdin ends."""
        loop = asyncio.get_running_loop()

        def end() -> None:
            loop.remove_reader(sys.stdin.fileno())
            self._flush()
            stop()

        def flush() -> None:
            self._flush()
            loop.call_later(_FLUSH_SECONDS, flush)

        loop.add_reader(sys.stdin.fileno(), end)
        flush()
        self._mark.with_suffix(".working").touch()

    def _flush(self) -> None:
        if self._pending:
            self._file.write(self._pending.tobytes())
            del self._pending[:]


def dues(n: int, first: float, step: float, size: int) -> Iterator[list[float]]:
    """The instants of the jobs to load, in batches."""
    for start in range(0, n, size):
        yield [first + i * step for i in range(start, min(n, start + size))]


def until(due: float) -> float:
    """Seconds from now."""
    return due - time()


def minute() -> float:
    """Of a schedule that doesn't tell its slot: the minute that has begun, or begins within a second."""
    return (time() + 1) // 60 * 60
