"""What a tenant's requests are signed with, and what its headers refer to: asked for, and kept for moments."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from detent import clock

FRESH_SECONDS: Final = 5.0
"""A new secret is in every request so long after it was made, at most."""
_MOST: Final = 10_000


@dataclass(frozen=True, slots=True)
class Keys:
    """Of one tenant, opened."""

    signing: tuple[bytes, ...]
    """The newest first; while one is rotated there are two."""
    values: Mapping[str, str] = field(default_factory=dict)


Fetch = Callable[[int], Awaitable[Keys]]


class KeyCache:
    """Those of the tenants that this worker serves."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._known: dict[int, tuple[Keys, float]] = {}
        self._asking: dict[int, asyncio.Task[Keys]] = {}

    def fresh(self, tenant_id: int) -> Keys | None:
        known = self._known.get(tenant_id)
        return known[0] if known is not None and clock.monotonic() < known[1] else None

    async def of(self, tenant_id: int) -> Keys:
        """Asked for once, however many want to know. Raises what the asking raises."""
        asking = self._asking.get(tenant_id)
        if asking is None:
            asking = self._asking[tenant_id] = asyncio.create_task(self._ask(tenant_id))
            asking.add_done_callback(lambda _: self._asking.pop(tenant_id, None))
        return await asyncio.shield(asking)

    async def _ask(self, tenant_id: int) -> Keys:
        keys = await self._fetch(tenant_id)
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[tenant_id] = keys, clock.monotonic() + FRESH_SECONDS
        return keys
