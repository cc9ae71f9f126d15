"""Every store tells the same: what is new, what was done, and what is late."""

from __future__ import annotations

import asyncio
import inspect
from datetime import timedelta

import pytest

from detent.receiver import AsyncPostgresStore, MemoryStore, PostgresStore, Standing

BIG = 2**62


async def now(answer):
    return await answer if inspect.isawaitable(answer) else answer


# R-TARGET-2
async def test_a_firing_is_done_once(store):
    assert await now(store.begin("f_a", 5)) is Standing.NEW
    await now(store.done("f_a"))
    for token in (5, 6, 4, BIG):
        assert await now(store.begin("f_a", token)) is Standing.DUPLICATE
    assert await now(store.begin("f_b", 1)) is Standing.NEW


# R-TARGET-2
async def test_what_never_succeeded_gets_through_with_a_newer_token_alone(store):
    """A retry, or a dead firing that is replayed: same key, next attempt."""
    assert await now(store.begin("f_a", 9)) is Standing.NEW
    assert await now(store.begin("f_a", 9)) is Standing.STALE, "the same attempt twice"
    assert await now(store.begin("f_a", 8)) is Standing.STALE, "somebody newer has begun"
    assert await now(store.begin("f_a", 10)) is Standing.NEW
    assert await now(store.begin("f_a", BIG)) is Standing.NEW
    assert await now(store.begin("f_a", BIG - 1)) is Standing.STALE
    await now(store.done("f_a"))
    assert await now(store.begin("f_a", BIG + 1)) is Standing.DUPLICATE


# R-TARGET-2
async def test_of_many_that_come_at_once_one_is_new(store):
    if inspect.iscoroutinefunction(type(store).begin) or inspect.isawaitable(first := store.begin("f_x", 1)):
        standings = await asyncio.gather(*[store.begin("f_a", 7) for _ in range(20)])
        if "first" in locals():
            await first
    else:
        loop = asyncio.get_running_loop()
        standings = await asyncio.gather(
            *[loop.run_in_executor(None, store.begin, "f_a", 7) for _ in range(20)]
        )
    assert sorted(standings) == [Standing.NEW] + [Standing.STALE] * 19


async def test_a_store_in_memory_is_bounded():
    store = MemoryStore(most=10)
    for number in range(30):
        store.begin(f"f_{number}", 1)
    assert store.begin("f_29", 1) is Standing.STALE
    assert store.begin("f_0", 1) is Standing.NEW, "forgotten"


@pytest.mark.parametrize("store", ["postgres", "asyncpg"], indirect=True)
async def test_what_is_old_is_forgotten_when_it_is_asked_for(store):
    assert isinstance(store, PostgresStore | AsyncPostgresStore)
    await now(store.begin("f_a", 5))
    await now(store.forget())
    assert await now(store.begin("f_a", 5)) is Standing.STALE
    await now(store.forget(older_than=timedelta(seconds=-1)))
    assert await now(store.begin("f_a", 5)) is Standing.NEW
    await now(store.create())
