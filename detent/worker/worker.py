"""The worker as a whole: its parts, its loops, and its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from detent import clock
from detent.clock import DatabaseClock
from detent.node.node import Node
from detent.node.overlaps import Overlaps
from detent.node.reaper import Reaper
from detent.store import claiming
from detent.store.pool import LOST, deadline_seconds
from detent.targets.registry import Registry
from detent.targets.task import Task
from detent.worker.claimer import Claimer
from detent.worker.contexts import Contexts
from detent.worker.executor import Executor
from detent.worker.finaliser import Finaliser
from detent.worker.hand import Hand, Held
from detent.worker.outcome import STOPPING
from detent.worker.release import Release
from detent.worker.strangers import Strangers
from detent.worker.targets import targets_of
from detent.worker.transactions import Transactions
from detent.worker.watch import Watch

_FLUSH_SECONDS: Final = 0.25
"""Flushes are asked for; this is in case one wasn't."""
_WATCH_SECONDS: Final = 0.25
_REAP_SECONDS: Final = 1.0
_OVERLAPS_SECONDS: Final = 0.25
_STRANGERS_SECONDS: Final = 10.0
_DRAIN_LOOK_SECONDS: Final = 0.01
_LAST_WORDS_SECONDS: Final = 5.0


class Worker:
    """Serves pools with the tasks of an app, on a node."""

    def __init__(
        self, node: Node, tasks: Mapping[str, Task], *, pools: Sequence[str], concurrency: int,
        time: DatabaseClock | None = None,
    ) -> None:  # fmt: skip
        self._node = node
        self.hand = Hand(concurrency)
        self._unwanted: list[Held] = []
        """Brought by a claim that was under way when we were told to stop."""
        self.time = time or DatabaseClock()
        self.registry = Registry(targets_of(node, tasks, self.time, places=concurrency))
        self.transactions = Transactions(node)
        contexts = Contexts(node.pool, self.transactions)
        self.finaliser = Finaliser(node.pool, self.hand, self.time, node.events, contexts)
        self.executor = Executor(concurrency, self.finaliser, node.lease)
        self.release = Release(self.time, self.executor.submit)
        self.claimer = Claimer(
            node.pool, node.lease, node.settings, pools=pools, hand=self.hand, registry=self.registry,
            time=self.time, deliver=self._deliver,
        )  # fmt: skip
        self.watch = Watch(node.pool, self.hand, self.executor, self.finaliser, self.time, node.events)
        claim = self._claim = node.loop("claim", self.claimer.tick, every=node.settings.poll)
        flush = node.loop("finalise", self.finaliser.tick, every=_FLUSH_SECONDS)
        claim.on_failure = self.claimer.reconcile_soon
        self.finaliser.on_gathered = flush.wake
        self.transactions.on_concluded = self.finaliser.concluded
        self.finaliser.on_room = self.executor.on_drained = claim.wake
        self.hand.unwritten = lambda: self.finaliser.pending
        node.loop("watch", self.watch.tick, every=_WATCH_SECONDS)
        strangers = Strangers(node.pool, pools, self.registry, node.events)
        node.loop("strangers", strangers.tick, every=_STRANGERS_SECONDS)
        node.loop("overlaps", Overlaps(node.pool, node.events).tick, every=_OVERLAPS_SECONDS)
        node.loop("reap", Reaper(node.pool, node.events).tick, every=_REAP_SECONDS)
        node.on_notice(lambda _: claim.wake())

    def _deliver(self, firings: list[Held]) -> None:
        if self.claimer.stopped:
            self._unwanted += firings
        else:
            self.release.deliver(firings)

    async def drain(self, grace: float) -> None:
        """Claims no more, hands back what has not begun, waits for what runs, and at last cancels it."""
        deadline = clock.monotonic() + grace
        self.claimer.stopped = True
        await self._hand_back_unbegun()
        # A claim may be under way: what it brings is ours by the ledger already.
        await self._claim.stop_and_wait(deadline_seconds(self._node.settings))
        await self._hand_back_unbegun()
        while self.executor.running and clock.monotonic() < deadline:
            await clock.sleep(_DRAIN_LOOK_SECONDS)
        for held in list(self.executor.running):
            self.executor.cancel(held, STOPPING)
        deadline = clock.monotonic() + _LAST_WORDS_SECONDS
        while (self.executor.running or self.finaliser.pending) and clock.monotonic() < deadline:
            await clock.sleep(_DRAIN_LOOK_SECONDS)
        await self.registry.close()
        await self.transactions.close()

    async def _hand_back_unbegun(self) -> None:
        back = [*self._unwanted, *self.release.take_back(), *self.executor.take_back()]
        self._unwanted.clear()
        if not back:
            return
        with suppress(*LOST):  # without a database they are found when the lease has run out
            async with self._node.pool.acquire() as connection:
                await claiming.hand_back(
                    connection, [(h.claimed[0], h.claimed[2], h.claimed[4]) for h in back]
                )
        self.hand.let_go(back, concluded=False)
