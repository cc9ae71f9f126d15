"""The lease of a node: its id, and until when it may act.

A renewal extends an unexpired lease only. Once it has run out the node is another one, with a new id, and everything
held under the old one is void. Who renews, and when, is the heartbeat's part: see heartbeat.py.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Final

from detent import __version__, clock
from detent.domain import zone
from detent.observe.events import Events, LeaseLost
from detent.settings import Settings
from detent.store import nodes
from detent.store.pool import Connection

_MARGIN: Final = 0.1
"""Of the time to live: for clocks that don't run alike, and for what lies between a look at the lease and the deed."""
RENEWALS_PER_TTL: Final = 3


class Lease:
    """Node id and deadline. Read from the loop, written by the heartbeat; both are plain values."""

    def __init__(self, settings: Settings, kind: str, events: Events) -> None:
        self._settings = settings
        self._kind = kind
        self._events = events
        self.id = 0
        self.deadline = 0.0
        """Until when we may act, by our monotonic clock."""

    @property
    def held(self) -> bool:
        return clock.monotonic() < self.deadline

    @property
    def _trusted(self) -> float:
        return self._settings.lease_ttl * (1 - _MARGIN)

    @property
    def renew_every(self) -> float:
        return self._settings.lease_ttl / RENEWALS_PER_TTL

    async def renew(self, connection: Connection) -> None:
        """What is trusted is counted from before the call: its answer may have taken long."""
        begin = clock.monotonic()
        async with asyncio.timeout(self.renew_every):
            if await nodes.renew_lease(connection, self.id, self._settings.lease_ttl):
                self.deadline = begin + self._trusted
                return
        self._events.emit(LeaseLost(node=self.id))
        await self.register(connection)

    async def register(self, connection: Connection) -> None:
        begin, node = clock.monotonic(), secrets.randbits(62)
        await nodes.register_node(
            connection, node, self._kind, __version__, zone.TZDATA_VERSION, self._settings.lease_ttl
        )
        self.id = node
        self.deadline = begin + self._trusted
