"""A network that can be cut: a proxy in front of a PostgreSQL that stops passing on what it is sent, one way or both.

A frozen connection stays open: nobody is told anything, as when a cable is pulled or a firewall drops packets.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Self
from urllib.parse import parse_qs, urlsplit

_CHUNK = 1 << 16


class Proxy:
    """`url` leads through it."""

    def __init__(self, url: str) -> None:
        self._target = parse_qs(urlsplit(url).query)["host"][0] + "/.s.PGSQL.5432"
        self._database = urlsplit(url).path
        self._up, self._down = asyncio.Event(), asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self.heal()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.close()

    @property
    def url(self) -> str:
        port = self._server.sockets[0].getsockname()[1]
        return f"postgresql://postgres@127.0.0.1:{port}{self._database}?sslmode=disable"

    def freeze(self, *, up: bool = True, down: bool = True) -> None:
        """`up` is from client to server."""
        if up:
            self._up.clear()
        if down:
            self._down.clear()

    def heal(self) -> None:
        self._up.set()
        self._down.set()

    def reset(self) -> None:
        """All connections are gone at once, and both sides are told."""
        for writer in self._writers:
            writer.transport.abort()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, to_there = await asyncio.open_unix_connection(self._target)
        self._writers |= {writer, to_there}
        for source, sink, gate in ((reader, to_there, self._up), (there, writer, self._down)):
            task = asyncio.create_task(self._pass_on(source, sink, gate))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass_on(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, gate: asyncio.Event
    ) -> None:
        with suppress(OSError):
            while data := await source.read(_CHUNK):
                await gate.wait()
                sink.write(data)
                await sink.drain()
        await gate.wait()
        sink.close()
        self._writers.discard(sink)
