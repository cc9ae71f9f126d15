"""What a firing is told of itself, and its way back to us."""

from __future__ import annotations

from datetime import UTC, datetime

from detent.store import concluding
from detent.store.pool import Pool
from detent.targets.context import Context
from detent.worker.hand import Held
from detent.worker.transactions import Transaction, Transactions


class Contexts:
    """Made for the firings that want one."""

    def __init__(self, database: Pool, transactions: Transactions) -> None:
        self._database = database
        self._transactions = transactions

    def of(self, held: Held) -> Context:
        claimed, timeout = held.claimed, held.timeout_seconds
        ends_at = None if timeout is None else held.started + timeout
        return Context(
            schedule=claimed[12],
            schedule_id=claimed[0],
            tenant_id=claimed[7] // 10,
            scheduled_for=claimed[10] or claimed[1],
            attempt=claimed[3],
            fencing_token=claimed[4],
            catch_up=claimed[9] == "catch_up",
            key_at=claimed[1],
            deadline=None if ends_at is None else datetime.fromtimestamp(ends_at + held.offset, UTC),
            ends_at=ends_at,
            link=_Link(held, self._database, self._transactions),
        )


class _Link:
    """Between a firing in this process and its worker."""

    __slots__ = ("_database", "_held", "_transactions")

    def __init__(self, held: Held, database: Pool, transactions: Transactions) -> None:
        self._held = held
        self._database = database
        self._transactions = transactions

    @property
    def cancelled(self) -> bool:
        return self._held.cancel is not None

    async def report(self, done: float | None, note: str | None) -> bool:
        claimed = self._held.claimed
        async with self._database.acquire() as connection:
            return await concluding.progress(connection, claimed[0], claimed[1], claimed[4], done, note)

    def transaction(self) -> Transaction:
        return self._transactions.of(self._held)
