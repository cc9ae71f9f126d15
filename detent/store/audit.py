"""Auditing, as the store sees it: where the ledger contradicts itself."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from detent.store.pool import Connection
from detent.store.statements import statement


class Breach(NamedTuple):
    schedule_id: int
    scheduled_for: datetime
    what: str


async def breaches(connection: Connection, begin: datetime, end: datetime) -> list[Breach]:
    """Of the law of conservation, among firings in [begin, end). There should be none, at any moment."""
    return [Breach(*row) for row in await connection.fetch(statement("breaches"), begin, end)]
