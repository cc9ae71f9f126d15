"""From names to addresses, by c-ares: asynchronous, so that slow name servers keep nobody but those who ask them.

It reads the system's hosts file and name servers, but adds no search domains: a name is asked for as it is written.
Answers are kept for their time to live, up to half a minute; who asks for the same name at once shares one question.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any, Final, NamedTuple

import aiodns
import pycares

from detent import clock
from detent.domain.http.address import Address
from detent.targets.http.answer import NoAnswer

_LONGEST_SECONDS: Final = 30.0
_MOST: Final = 10_000
_TRY_SECONDS: Final = 2.0
_TRIES: Final = 2
_MAX_ADDRESSES: Final = 16
_NOTHING: Final = (pycares.errno.ARES_ENOTFOUND, pycares.errno.ARES_ENODATA)


class _Known(NamedTuple):
    addresses: Sequence[Address]
    until: float


class Resolver:
    """`nameservers` are `address` or `address:port`; without any, those of the system."""

    def __init__(self, nameservers: Sequence[str] = ()) -> None:
        self._nameservers = list(nameservers)
        self._channel: aiodns.DNSResolver | None = None
        self._known: dict[str, _Known] = {}
        self._asking: dict[str, asyncio.Task[Sequence[Address] | NoAnswer]] = {}

    async def resolve(self, host: str) -> Sequence[Address] | NoAnswer:
        known = self._known.get(host)
        if known is not None and clock.monotonic() < known.until:
            return known.addresses
        asking = self._asking.get(host)
        if asking is None:
            asking = self._asking[host] = asyncio.create_task(self._ask(host))
            asking.add_done_callback(lambda _: self._asking.pop(host, None))
        return await asyncio.shield(asking)  # others wait for it, too

    async def close(self) -> None:
        for asking in list(self._asking.values()):
            asking.cancel()
        if self._channel is not None:
            await self._channel.close()
            self._channel = None

    async def _ask(self, host: str) -> Sequence[Address] | NoAnswer:
        try:
            found = await self._asker().getaddrinfo(host, family=socket.AF_UNSPEC, type=socket.SOCK_STREAM)
        except aiodns.error.DNSError as error:
            nothing = error.args[0] in _NOTHING
            what = "there is no such host" if nothing else f"its name servers say: {error.args[-1]}"
            return NoAnswer("dns", f"{host}: {what}")
        addresses = list(dict.fromkeys(ip_address(_text(node.addr[0])) for node in found.nodes))
        if not addresses:
            return NoAnswer("dns", f"{host}: it has no address")
        lives = min(_LONGEST_SECONDS, *(float(node.ttl) for node in found.nodes))
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[host] = _Known(addresses, clock.monotonic() + lives)
        return addresses

    def _asker(self) -> aiodns.DNSResolver:
        """Made in the loop that uses it."""
        if self._channel is None:
            options: dict[str, Any] = {"nameservers": self._nameservers} if self._nameservers else {}
            self._channel = aiodns.DNSResolver(
                loop=asyncio.get_running_loop(), timeout=_TRY_SECONDS, tries=_TRIES,
                flags=pycares.ARES_FLAG_NOSEARCH, **options,
            )  # fmt: skip
        return self._channel


def _text(address: bytes | str) -> str:
    return address.decode() if isinstance(address, bytes) else address
