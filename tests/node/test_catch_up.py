"""Late firings are spaced out, shard by shard."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from detent.node.catch_up import CatchUp
from tests.house import house  # noqa: F401 a fixture

HALF = timedelta(seconds=0.5)


# R-PLAN-8
async def test_shards_that_change_hands_do_not_disturb_who_is_at_work(house):  # noqa: F811
    """Shards come and go by a loop of their own, between any two calls of a planning transaction."""
    catch_up, changed = CatchUp(), asyncio.Event()
    async with house.pool.acquire() as connection:
        first = await catch_up.space(connection, [7, 7], house.now)
        catch_up.spaced(first.moved)

        async def change() -> None:
            catch_up.forget()
            changed.set()

        # 8 is asked for; 7 is known already, and is forgotten meanwhile.
        asyncio.get_running_loop().call_soon(asyncio.ensure_future, change())
        second = await catch_up.space(connection, [7, 8], house.now)
    assert changed.is_set()
    assert first.dues == [house.now, house.now + HALF]
    assert second.dues == [house.now + 2 * HALF, house.now]
