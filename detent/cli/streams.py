"""Standard input and output as bytes. Python has None for those that were closed when it was started."""

from __future__ import annotations

import sys
from typing import BinaryIO


def bytes_in() -> BinaryIO:
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin.buffer


def bytes_out() -> BinaryIO:
    if sys.stdout is None:
        raise OSError("standard output is closed")
    return sys.stdout.buffer
