"""Keeps an embedded PostgreSQL running as long as the process does, and starts it again when it dies.

In one thread of its own from beginning to end: the kernel ties the server to the thread that started it, and a server
that recovers must not keep an event loop waiting.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

from detent.observe.events import DatabaseDied, DatabaseRestarted, Events, LoopFailed
from detent.store.binaries import EmbeddedError
from detent.store.embedded import EmbeddedPostgres

_LOOK_SECONDS: Final = 0.05
_AGAIN_SECONDS: Final = 1.0


@contextmanager
def kept(server: EmbeddedPostgres, events: Events) -> Iterator[None]:
    """The server runs inside."""
    over = threading.Event()
    with ThreadPoolExecutor(1, "embedded-postgres") as thread:
        thread.submit(server.start).result()
        watching = thread.submit(_watch, server, over, events)
        try:
            yield
        finally:
            over.set()
            watching.result()
            thread.submit(server.stop).result()


def _watch(server: EmbeddedPostgres, over: threading.Event, events: Events) -> None:
    pause = _LOOK_SECONDS
    while not over.wait(pause):
        if server.alive:
            continue
        events.emit(DatabaseDied())
        try:
            server.restart()
        except (EmbeddedError, OSError) as error:
            events.emit(LoopFailed(loop="embedded-postgres", error=str(error), failures=1))
            pause = _AGAIN_SECONDS
        else:
            events.emit(DatabaseRestarted())
            pause = _LOOK_SECONDS
