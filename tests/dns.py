"""A real name server on the loopback, as honest as it is told to be.

async with open_dns() as dns:
    dns.answer("a.example.com", A("203.0.113.1"), AAAA("2001:db8::1"))     # at every question
    dns.in_turn("b.example.com", [A("8.8.8.8")], [A("127.0.0.1")])         # one after the other; the last stays
    Resolver([dns.address])
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

_TYPES = {1: "A", 28: "AAAA"}


class Record(NamedTuple):
    kind: int
    data: bytes
    ttl: int = 0


def A(address: str, ttl: int = 0) -> Record:  # noqa: N802 as records are called
    return Record(1, socket.inet_pton(socket.AF_INET, address), ttl)


def AAAA(address: str, ttl: int = 0) -> Record:  # noqa: N802
    return Record(28, socket.inet_pton(socket.AF_INET6, address), ttl)


def CNAME(name: str, ttl: int = 0) -> Record:  # noqa: N802
    return Record(5, _wire(name), ttl)


class Dns(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self._answers: dict[str, list[Sequence[Record]]] = {}
        self._turns: dict[tuple[str, int], int] = {}
        self.asked: list[tuple[str, str]] = []
        self.silent = False
        self.address = ""

    def answer(self, name: str, *records: Record) -> None:
        self.in_turn(name, records)

    def in_turn(self, name: str, *answers: Sequence[Record]) -> None:
        self._answers[name] = list(answers)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        name, kind, end = _question(data)
        self.asked.append((name, _TYPES.get(kind, str(kind))))
        if not self.silent:
            self._transport.sendto(self._reply(data, name, kind, end), addr)  # type: ignore[attr-defined]

    def _reply(self, data: bytes, name: str, kind: int, end: int) -> bytes:
        answers = self._answers.get(name)
        if answers is None:
            return data[:2] + struct.pack("!HHHHH", 0x8183, 1, 0, 0, 0) + data[12:end]
        turn = self._turns.get((name, kind), 0)
        self._turns[name, kind] = turn + 1
        records = [(name, one) for one in answers[min(turn, len(answers) - 1)] if one.kind in (kind, 5)]
        for _, one in list(records):
            if one.kind == 5:
                alias = _name(one.data, 0)[0]
                records += [(alias, more) for more in self._answers.get(alias, [()])[0] if more.kind == kind]
        body = b"".join(
            _wire(owner) + struct.pack("!HHIH", one.kind, 1, one.ttl, len(one.data)) + one.data
            for owner, one in records
        )
        return data[:2] + struct.pack("!HHHHH", 0x8180, 1, len(records), 0, 0) + data[12:end] + body


def _question(data: bytes) -> tuple[str, int, int]:
    name, at = _name(data, 12)
    return name, struct.unpack_from("!H", data, at)[0], at + 4


def _name(data: bytes, at: int) -> tuple[str, int]:
    labels = []
    while data[at]:
        labels.append(data[at + 1 : at + 1 + data[at]].decode())
        at += 1 + data[at]
    return ".".join(labels).lower(), at + 1


def _wire(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


@asynccontextmanager
async def open_dns() -> AsyncIterator[Dns]:
    loop = asyncio.get_running_loop()
    transport, dns = await loop.create_datagram_endpoint(Dns, ("127.0.0.1", 0))
    dns.address = f"127.0.0.1:{transport.get_extra_info('sockname')[1]}"
    try:
        yield dns
    finally:
        transport.close()
