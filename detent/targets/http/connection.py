"""One connection that speaks HTTP/1.1, one request at a time.

The parser is llhttp, by httptools, as strict as it comes. All that the other side can make us hold is bounded here: the
head of an answer, with what is informational before it, and the part of the body that is wanted.
"""

from __future__ import annotations

import asyncio
from typing import Final

import httptools

from detent.targets.http.answer import TIMEOUT, Answer, NoAnswer

MAX_HEAD: Final = 64 * 1024
"""Bytes of status lines and headers, informational ones included: servers send some hundreds."""
_MAX_INFORMATIONAL: Final = 16
_WANTED: Final = frozenset({b"content-type", b"content-encoding", b"retry-after", b"location"})
_FRAMING: Final = frozenset({b"content-length", b"transfer-encoding"})


class Connection(asyncio.Protocol):
    """`exchange` gives a future that is always fulfilled, by an answer or by what went wrong."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._waiting: asyncio.Future[Answer | NoAnswer] | None = None
        self.reusable = False
        """It may be used for another request."""
        self.idle_since = 0.0

    def exchange(
        self, request: bytes, *, head_only: bool, max_body: int, loop: asyncio.AbstractEventLoop
    ) -> asyncio.Future[Answer | NoAnswer]:
        """Sends the request, whole. `head_only`: its answer has no body, whatever its headers say."""
        self.reusable = False
        self._head_only, self._max_body = head_only, max_body
        self._informational = self._head = 0
        self._begin()
        waiting = self._waiting = loop.create_future()
        if self._transport is None or self._transport.is_closing():
            self._end(NoAnswer("closed", "the connection was closed before the request"))
        else:
            self._transport.write(request)
        return waiting

    def time_out(self) -> None:
        self._end(NoAnswer(TIMEOUT, "no whole answer in time"))

    def abort(self) -> None:
        """At once, without a word: what is still under way is of no interest."""
        self.reusable = False
        if self._transport is not None:
            self._transport.abort()

    # What the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._parser = httptools.HttpResponseParser(self)

    def data_received(self, data: bytes) -> None:
        if self._waiting is None:  # nobody asked
            self.abort()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._end(NoAnswer("malformed", "the answer switches to another protocol"))
        except httptools.HttpParserError as error:
            self._end(NoAnswer("malformed", f"the answer is no HTTP: {str(error)[:200]}"))
        if not self._status:
            self._head += len(data)
            if self._head > MAX_HEAD:
                self._end(_HEAD_TOO_LONG)

    def eof_received(self) -> None:
        """Closes the connection; what was under way is judged when it is lost."""

    def connection_lost(self, exc: Exception | None) -> None:
        self.reusable = False
        if self._waiting is None:
            return
        if self._status and self._ends_with_connection and exc is None:
            self._end(self._answer(truncated=False))
        elif self._status or self._head:
            self._end(NoAnswer("closed", "the connection was closed within the answer"))
        else:
            self._end(NoAnswer("closed", "the connection was closed without an answer"))

    # What the parser calls

    def on_message_begin(self) -> None:
        if self._waiting is None:  # more than was asked for
            self.abort()
        self._begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head += len(name) + len(value)
        if self._head > MAX_HEAD:
            self._end(_HEAD_TOO_LONG)
        if len(name) in _LENGTHS:
            lower = name.lower()
            if lower in _WANTED:
                self._headers.setdefault(lower, value)
            elif lower in _FRAMING:
                self._ends_with_connection = False

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:
            self._informational += 1
            if self._informational > _MAX_INFORMATIONAL:
                self._end(NoAnswer("malformed", "nothing but informational answers"))
            return
        self._status = status
        if self._head_only:
            self._end(self._answer(truncated=False))

    def on_body(self, chunk: bytes) -> None:
        if self._waiting is None:
            return
        self._body += len(chunk)
        self._chunks.append(chunk)
        if self._body > self._max_body:
            self._end(self._answer(truncated=True))

    def on_message_complete(self) -> None:
        if self._status and self._waiting is not None:
            self.reusable = self._parser.should_keep_alive()
            waiting, self._waiting = self._waiting, None
            if not waiting.done():
                waiting.set_result(self._answer(truncated=False))
            if not self.reusable:
                self.abort()

    def _begin(self) -> None:
        self._status = self._body = 0
        self._headers: dict[bytes, bytes] = {}
        self._chunks: list[bytes] = []
        self._ends_with_connection = True

    def _answer(self, *, truncated: bool) -> Answer:
        chunks = self._chunks
        body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        return Answer(self._status, body[: self._max_body] if truncated else body, self._headers, truncated)

    def _end(self, end: Answer | NoAnswer) -> None:
        """Before the message was complete: there is no use for the rest, nor for the connection."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(end)
        self.abort()


_LENGTHS: Final = frozenset(len(name) for name in _WANTED | _FRAMING)
_HEAD_TOO_LONG: Final = NoAnswer("malformed", f"the head of the answer is longer than {MAX_HEAD >> 10} KiB")
