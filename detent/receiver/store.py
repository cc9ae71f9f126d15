"""What a store of a receiver is asked for."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import timedelta
from enum import StrEnum
from typing import Final, Protocol

KEPT: Final = timedelta(days=30)
"""How long a key is remembered: longer than anybody retries."""


class Standing(StrEnum):
    """How a delivery stands to those that came before."""

    NEW = "new"
    DUPLICATE = "duplicate"
    STALE = "stale"


class Store(Protocol):
    """At once, or to be awaited: WSGI takes the former alone."""

    def begin(self, key: str, token: int) -> Standing | Awaitable[Standing]:
        """Atomic: of two that come at once with one token, one is new."""

    def done(self, key: str) -> Awaitable[None] | None:
        """The work succeeded: whatever comes with this key from now on is a duplicate."""
