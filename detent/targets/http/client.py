"""Requests over connections that are kept for a moment, to addresses that were checked.

1. A connection that has been idle for a second or two is used again. Not longer: many servers close after two to five,
   and a request that meets a close is an attempt that failed.
2. Else the name is resolved, all its addresses are checked, and one of *these* is connected to: what the name leads to
   a moment later does not matter. The name is for the Host header and for TLS, which checks the certificate by it.
3. One deadline for all of it. Whatever happens, the answer is a value.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import Sequence
from functools import cache
from typing import Final

from detent import clock
from detent.domain.http.address import Address
from detent.domain.http.reach import Reach
from detent.domain.http.url import Url
from detent.targets.http.answer import CONNECT_TIMEOUT, Answer, NoAnswer
from detent.targets.http.connection import Connection
from detent.targets.http.resolver import Resolver

KEPT_SECONDS: Final = 1.5
_LOOK_SECONDS: Final = 0.5
_MAX_ADDRESSES: Final = 4
"""Tried in one connecting."""
_LEAST_SECONDS: Final = 0.25
"""Of a try, if others are left."""

_Place = tuple[str, str, int]


class Client:
    """`reach` says whom it may connect to."""

    def __init__(self, reach: Reach, resolver: Resolver | None = None) -> None:
        self._reach = reach
        self._resolver = resolver or Resolver()
        self._idle: dict[_Place, deque[Connection]] = {}
        self._sweep: asyncio.TimerHandle | None = None

    async def exchange(
        self, url: Url, request: bytes, *, head_only: bool, max_body: int, deadline: float, connect_by: float
    ) -> Answer | NoAnswer:
        """Instants are by the monotonic clock."""
        loop = asyncio.get_running_loop()
        place = (url.scheme, url.host, url.port)
        connection = self._kept(place)
        if connection is None:
            opened = await self._open(url, min(connect_by, deadline))
            if isinstance(opened, NoAnswer):
                return opened
            connection = opened
        waiting = connection.exchange(request, head_only=head_only, max_body=max_body, loop=loop)
        timer = loop.call_later(deadline - clock.monotonic(), connection.time_out)
        try:
            return await waiting
        finally:
            timer.cancel()
            if not waiting.done() or waiting.cancelled():
                connection.abort()
            elif connection.reusable:
                self._keep(place, connection)

    async def close(self) -> None:
        if self._sweep is not None:
            self._sweep.cancel()
        for kept in self._idle.values():
            for connection in kept:
                connection.abort()
        self._idle.clear()
        await self._resolver.close()

    def _kept(self, place: _Place) -> Connection | None:
        """The one used last: the others may rest, and be closed."""
        kept = self._idle.get(place)
        while kept:
            connection = kept.pop()
            if connection.reusable and clock.monotonic() - connection.idle_since < KEPT_SECONDS:
                return connection
            connection.abort()
        return None

    def _keep(self, place: _Place, connection: Connection) -> None:
        connection.idle_since = clock.monotonic()
        kept = self._idle.get(place)
        if kept is None:
            kept = self._idle[place] = deque()
        kept.append(connection)
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._close_idle)

    def _close_idle(self) -> None:
        before = clock.monotonic() - KEPT_SECONDS
        for place, kept in list(self._idle.items()):
            while kept and (kept[0].idle_since < before or not kept[0].reusable):
                kept.popleft().abort()
            if not kept:
                del self._idle[place]
        self._sweep = None
        if self._idle:
            self._sweep = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._close_idle)

    async def _open(self, url: Url, by: float) -> Connection | NoAnswer:
        try:
            async with asyncio.timeout(max(0.0, by - clock.monotonic())):
                addresses = await self._addresses(url)
                if isinstance(addresses, NoAnswer):
                    return addresses
                if (reason := self._reach.refusal(url, addresses)) is not None:
                    return NoAnswer("refused", f"{url.origin} may not be reached: {reason}", final=True)
                return await _connect(url, addresses[:_MAX_ADDRESSES], by)
        except TimeoutError:
            return NoAnswer(CONNECT_TIMEOUT, f"no connection to {url.origin} in time")

    async def _addresses(self, url: Url) -> Sequence[Address] | NoAnswer:
        return [url.address] if url.address is not None else await self._resolver.resolve(url.host)


async def _connect(url: Url, addresses: Sequence[Address], by: float) -> Connection | NoAnswer:
    """The first address that answers; each but the last is given its part of the time."""
    loop, failed = asyncio.get_running_loop(), NoAnswer("connect", f"{url.origin} has no address")
    secure, name = (_tls(), url.host) if url.scheme == "https" else (None, None)
    for left, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
        share = max(_LEAST_SECONDS, (by - clock.monotonic()) / left)
        try:
            async with asyncio.timeout(None if left == 1 else share):
                _, connection = await loop.create_connection(
                    Connection, str(address), url.port, ssl=secure, server_hostname=name
                )
                return connection
        except ssl.SSLError as error:
            failed = NoAnswer("tls", f"{url.origin} at {address}: {error.reason or error}")
        except TimeoutError:
            failed = NoAnswer(CONNECT_TIMEOUT, f"{url.origin} at {address} does not answer")
        except OSError as error:
            failed = NoAnswer("connect", f"{url.origin} at {address}: {error.strerror or error}")
    return failed


@cache
def _tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
