"""A real server on the loopback that keeps what it is sent, and behaves as badly as it is told.

    async with open_sink() as sink:
        sink.behave("/slow", hang)               # a path's behaviour; without one it answers `200 ok`
        … sink.url("/slow") …
        sink.received                            # in order; `sink.keys()` counts them by webhook-id

A behaviour is a coroutine of what was received and the writer. That it writes nothing, garbage or a gigabyte is its own
affair.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from detent import clock

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@dataclass(slots=True)
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    lines: list[str]
    """Of the head, as they came."""
    at: float = field(default_factory=clock.monotonic)


Behaviour = Callable[[Received, asyncio.StreamWriter], Awaitable[None]]


class Sink:
    def __init__(self) -> None:
        self.received: list[Received] = []
        self.connections = 0
        self.open = 0
        self.most_open = 0
        self.busy = 0
        self.most_busy = 0
        self.port = 0
        self.scheme = "http"
        self._behaviours: dict[str, Behaviour] = {}
        self._serving: set[asyncio.Task[None]] = set()

    def behave(self, path: str, behaviour: Behaviour) -> None:
        self._behaviours[path] = behaviour

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    def keys(self) -> Counter[str]:
        return Counter(one.headers["webhook-id"] for one in self.received)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await self._converse(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        except BaseException:
            writer.transport.abort()
            raise
        finally:
            self.open -= 1
            writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            one = await _read(reader)
            self.received.append(one)
            self.busy += 1
            self.most_busy = max(self.most_busy, self.busy)
            try:
                await self._behaviours.get(one.path.partition("?")[0], fine)(one, writer)
            finally:
                self.busy -= 1
            await writer.drain()

    async def close(self) -> None:
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await clock.sleep(0)  # transports say goodbye in the loop's next turn


async def _read(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head[:-4].split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, body, lines)


@asynccontextmanager
async def open_sink(tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> AsyncIterator[Sink]:
    sink = Sink()
    server = await asyncio.start_server(sink.accept, host, 0, ssl=tls, limit=1 << 20, backlog=1024)
    sink.port = server.sockets[0].getsockname()[1]
    sink.scheme = "https" if tls else "http"
    try:
        yield sink
    finally:
        server.close()
        await sink.close()


# Behaviours


async def fine(_: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(OK)


def answers(status: int, body: bytes = b"", *headers: str) -> Behaviour:
    async def answer(_: Received, writer: asyncio.StreamWriter) -> None:
        more = "".join(f"{header}\r\n" for header in headers)
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body)

    return answer


def says(*chunks: bytes, then_close: bool = True) -> Behaviour:
    """Those bytes, whatever they are."""

    async def say(_: Received, writer: asyncio.StreamWriter) -> None:
        for chunk in chunks:
            writer.write(chunk)
            await writer.drain()
        if then_close:
            writer.close()
            raise OSError

    return say


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """One after the other; the last one stays."""
    left = list(behaviours)

    async def behave(one: Received, writer: asyncio.StreamWriter) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(one, writer)

    return behave


async def hang(_: Received, writer: asyncio.StreamWriter) -> None:
    """Until the other side goes."""
    await writer.wait_closed()


async def reset(_: Received, writer: asyncio.StreamWriter) -> None:
    sock: socket.socket = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
    raise OSError


def endless(head: bytes, chunk: bytes, every: float = 0.0) -> Behaviour:
    """The head, and then the chunk again and again."""

    async def pour(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while not writer.is_closing():
            writer.write(chunk)
            await writer.drain()
            await clock.sleep(every)
        raise OSError

    return pour


def slow(seconds: float, then: Behaviour = fine) -> Behaviour:
    async def wait(one: Received, writer: asyncio.StreamWriter) -> None:
        await clock.sleep(seconds)
        await then(one, writer)

    return wait
