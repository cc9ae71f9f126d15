"""What a task may know of its firing, and tell while it runs.

`Context` is for coroutine functions, `SyncContext` for all others: what one awaits, the other waits for in its thread
or its process.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from detent import clock
from detent.domain.identity import firing_id
from detent.targets.sync_transaction import SyncTransaction, Wait

if TYPE_CHECKING:
    import asyncpg


class Link(Protocol):
    """The way back to the worker, from its own process or from a child of it."""

    @property
    def cancelled(self) -> bool: ...
    async def report(self, done: float | None, note: str | None) -> bool: ...
    def transaction(self) -> AbstractAsyncContextManager[asyncpg.Connection]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of the firing."""

    schedule: str
    """Its name."""
    schedule_id: int
    tenant_id: int
    scheduled_for: datetime
    """The slot that this firing is for, however late it runs."""
    attempt: int
    """The number under which this attempt stands in the ledger: 1, 2, … It counts claims, so it leaves some out: those
    of firings that were handed back or deferred before anything was attempted."""
    fencing_token: int
    """Only grows for a firing: whoever has seen a larger one must refuse a smaller one."""
    catch_up: bool
    """It is late on purpose: nobody could promise it in time."""
    key_at: datetime
    deadline: datetime | None = None
    """When its time is up, by the database's clock."""
    ends_at: float | None = None
    """The same by our monotonic clock."""

    @property
    def firing_id(self) -> str:
        return firing_id(self.schedule_id, self.key_at)

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt of this firing."""
        return self.firing_id

    @property
    def remaining(self) -> float | None:
        """Seconds until the deadline, for the time-outs of what it calls. None if there is no deadline."""
        return None if self.ends_at is None else max(0.0, self.ends_at - clock.monotonic())


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Facts):
    """Passed to a coroutine function whose first parameter is annotated with it."""

    link: Link = field(repr=False, compare=False)

    @property
    def cancelled(self) -> bool:
        """Whether it is to end: its time is up, the worker stops, somebody asked for it."""
        return self.link.cancelled

    def check(self) -> None:
        """Raises asyncio.CancelledError if it is to end: for long work between two awaits."""
        if self.link.cancelled:
            raise asyncio.CancelledError

    async def progress(self, done: float | None = None, note: str | None = None) -> bool:
        """Tells how far it has come. False: this attempt was taken away, and its result will not count."""
        return await self.link.report(done, note)

    async def heartbeat(self) -> bool:
        """Whether this attempt still counts. What was told of its progress stays."""
        return await self.link.report(None, None)

    def transaction(self) -> AbstractAsyncContextManager[asyncpg.Connection]:
        """A transaction in Detent's own database, for effects that happen exactly once: what is written on the
        connection and the fact that this firing succeeded are one commit.

            async with ctx.transaction() as connection:
                await connection.execute("insert into …")

        It is the firing's last word: what comes after it runs, but changes nothing. If the firing was taken away
        meanwhile, or an exception leaves the block, nothing is written.
        """
        return self.link.transaction()


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncContext(Facts):
    """Passed to an ordinary function whose first parameter is annotated with it."""

    link: Link = field(repr=False, compare=False)
    wait: Wait = field(repr=False, compare=False)

    @property
    def cancelled(self) -> bool:
        """Whether it is to end: its time is up, the worker stops, somebody asked for it. A thread can't be made to."""
        return self.link.cancelled

    def check(self) -> None:
        """Raises asyncio.CancelledError if it is to end, which is no Exception: handlers of those let it pass."""
        if self.link.cancelled:
            raise asyncio.CancelledError

    def progress(self, done: float | None = None, note: str | None = None) -> bool:
        """Tells how far it has come. False: this attempt was taken away, and its result will not count."""
        return bool(self.wait(self.link.report(done, note)))

    def heartbeat(self) -> bool:
        """Whether this attempt still counts. What was told of its progress stays."""
        return bool(self.wait(self.link.report(None, None)))

    def transaction(self) -> SyncTransaction:
        """A transaction in Detent's own database: what is written on the connection and the fact that this firing
        succeeded are one commit. See Context.transaction.

            with ctx.transaction() as connection:
                connection.execute("insert into …")
        """
        return SyncTransaction(self.link.transaction(), self.wait)
