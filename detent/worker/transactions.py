"""Transactions of tasks: what a task writes and the fact that it did are one commit, or neither is written.

1. The task writes, in a transaction on a connection of its own.
2. Last, `conclude_own_v1` deletes its running row under its volley and writes the attempt. If the row isn't there the
   firing was taken from us, and all is rolled back: who deletes the row owns the decision.
3. One commit. When its answer is lost we ask who is left with the row. Asking locks it, so a commit that is still under
   way on the server is waited for: then either the row is there, and nothing was written, or the attempt is.

Steps 2 and 3 are not interrupted: a firing that is cancelled meanwhile has concluded, or has written nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Final

from detent import clock
from detent.domain.errors import DetentError
from detent.node.node import Node
from detent.store import concluding
from detent.store.concluding import Brought, OwnFact
from detent.store.pool import (
    GONE,
    LOST,
    Connection,
    Pool,
    StoreUnreachable,
    deadline_seconds,
    give_up,
    open_task_pool,
    time_outs,
)
from detent.worker.hand import Held

_MOST: Final = 10
"""Of a worker at once. Each holds a connection from its first to its last statement; the others wait for one."""
_IN_DOUBT_SECONDS: Final = 30.0
"""How long we ask what became of a commit. Then the task is told that nobody knows; the finaliser asks on."""
_PAUSE_SECONDS: Final = 0.2


class TransactionError(DetentError):
    """A firing can't have (another) transaction, or nobody knows what became of it."""

    code = "transaction"


class TakenAway(DetentError):
    """The firing was taken from this attempt: nothing that it wrote in its transaction is kept."""

    code = "taken_away"

    def __init__(self) -> None:
        super().__init__("the firing was taken from this attempt: nothing of its transaction is written")


class Transactions:
    """The connections of a worker's tasks, made when the first one asks."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.on_concluded: Callable[[Held, float], None] = _nothing
        """Told of each firing that has, and when its code for it ended."""
        self.deadline_seconds: Final = deadline_seconds(node.settings)
        self.time_outs: Final = time_outs(node.settings)
        self._opening = asyncio.Lock()
        self._pool: Pool | None = None

    def of(self, held: Held) -> Transaction:
        return Transaction(self, held)

    async def acquire(self) -> Connection:
        async with self._opening:
            if self._pool is None:
                self._pool = await open_task_pool(self._node.settings, _MOST)
        return await self._pool.acquire()

    async def give_back(self, connection: Connection, *, clean: bool) -> None:
        assert self._pool is not None
        if not clean:
            give_up(connection)
        await self._pool.release(connection)

    async def close(self) -> None:
        if self._pool is not None:
            self._pool.terminate()

    async def learn(self, held: Held) -> bool:
        """Whether a commit whose answer was lost was one."""
        give_up_at = clock.monotonic() + _IN_DOUBT_SECONDS
        while True:
            try:
                return await self._was_committed(held)
            except (*LOST, StoreUnreachable) as error:
                if clock.monotonic() > give_up_at:
                    raise TransactionError(
                        "the answer to its commit was lost, and nobody can tell it"
                    ) from error
            await clock.sleep(_PAUSE_SECONDS)

    async def _was_committed(self, held: Held) -> bool:
        claimed = held.claimed
        async with self._node.pool.acquire() as connection:
            if await concluding.still_running(connection, claimed[0], claimed[2], claimed[4]):
                return False
            brought = Brought(claimed[0], claimed[1], claimed[4], "succeeded")
            if await concluding.own_facts(connection, [brought]):
                return True
        raise TakenAway

    def tell(self, held: Held, finished: float) -> None:
        held.settled = True
        self.on_concluded(held, finished)


class Transaction:
    """One block of `async with`. Leaving it concludes the firing; leaving it by an exception rolls back."""

    def __init__(self, transactions: Transactions, held: Held) -> None:
        self._transactions = transactions
        self._held = held

    async def __aenter__(self) -> Connection:
        if self._held.settled:
            raise TransactionError("this firing has concluded: its transaction is its last word")
        self._connection = await self._transactions.acquire()
        self._inner = self._connection.transaction()
        begun = False
        try:
            await self._inner.start()
            begun = True
        finally:
            if not begun:
                await self._transactions.give_back(self._connection, clean=False)
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ending = asyncio.ensure_future(self._roll_back() if kind else self._commit())
        told: asyncio.CancelledError | None = None
        while not ending.done():
            try:
                await asyncio.wait({ending})
            except asyncio.CancelledError as cancelled:
                told = cancelled
        ending.result()
        if told is not None:
            raise told

    async def _roll_back(self) -> None:
        clean = False
        with suppress(*LOST):  # then the server does, when it sees that we are gone
            try:
                await self._inner.rollback()
                clean = True
            finally:
                await self._transactions.give_back(self._connection, clean=clean)

    async def _commit(self) -> None:
        clean = False
        try:
            finished = await self._conclude()
            try:
                async with asyncio.timeout(self._transactions.deadline_seconds):
                    await self._inner.commit()
                clean = True
            except GONE:
                give_up(self._connection)
                if not await self._transactions.learn(self._held):
                    raise
            self._transactions.tell(self._held, finished)
        finally:
            await self._transactions.give_back(self._connection, clean=clean)

    async def _conclude(self) -> float:
        """The last statement before the commit. When it ended, by our clock."""
        held, finished = self._held, clock.monotonic()
        claimed = held.claimed
        fact = OwnFact(
            claimed[0], claimed[2], claimed[4], claimed[6], held.started + held.offset, finished + held.offset,
            held.call.wakes,
        )  # fmt: skip
        async with asyncio.timeout(self._transactions.deadline_seconds):
            if not await concluding.conclude_own(self._connection, fact, self._transactions.time_outs):
                raise TakenAway
        return finished


def _nothing(_held: Held, _finished: float) -> None:
    """Nobody wants to know."""
