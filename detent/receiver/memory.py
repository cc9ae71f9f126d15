"""A store in this process: for one process, until it ends. Others need one that they share."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

from detent.receiver.store import Standing

_MOST: Final = 100_000


class MemoryStore:
    """The last hundred thousand keys."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._known: OrderedDict[str, tuple[int, bool]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, key: str, token: int) -> Standing:
        with self._lock:
            newest, done = self._known.get(key, (-1, False))
            if done:
                return Standing.DUPLICATE
            if token <= newest:
                return Standing.STALE
            self._known[key] = token, False
            self._known.move_to_end(key)
            if len(self._known) > self._most:
                self._known.popitem(last=False)
            return Standing.NEW

    def done(self, key: str) -> None:
        with self._lock:
            token, _ = self._known.get(key, (-1, False))
            self._known[key] = token, True
