"""Ties a new process to the one that starts it: on Linux the kernel tells it when we die, however we do."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_LIBC: Final = ctypes.CDLL(None) if sys.platform == "linux" else None


def tied_by(signal: int) -> Callable[[], None]:
    """To run in the new process, before its program: from here on it gets the signal when the thread that started it
    ends."""
    parent = os.getpid()

    def tie() -> None:
        if _LIBC is not None:
            _LIBC.prctl(_PR_SET_PDEATHSIG, signal)
            if os.getppid() != parent:  # it was faster
                os._exit(1)

    return tie
