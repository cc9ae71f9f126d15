"""How a process is told to end: the first SIGINT or SIGTERM asks it to, the second ends it at once."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_KILLED: Final = 128


class Stop:
    """Made inside the loop that it ends."""

    def __init__(self, on_second: Callable[[], None] | None = None) -> None:
        self.asked = asyncio.Event()
        self._on_second = on_second
        for number in _SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._signalled, number)

    def _signalled(self, number: int) -> None:
        if not self.asked.is_set():
            self.asked.set()
            return
        if self._on_second is not None:
            self._on_second()
        os._exit(_KILLED + number)
