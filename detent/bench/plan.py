"""How fast timers become promises: the real planner's ticks, against a loop that makes the same statements with the
slots given."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

import uvloop

from detent import clock
from detent.bench.crew import BenchError
from detent.bench.fleet import NOOP, load_fleet, settle_down
from detent.bench.place import open_days, place
from detent.domain.instant import format_instant
from detent.node.node import Node
from detent.node.planner import MOST, Planner
from detent.node.shards import SHARDS, Shards
from detent.observe.events import Events
from detent.settings import Settings
from detent.store import planning
from detent.store.planning import Moves
from detent.store.pool import connect_patiently

_KINDS: Final = 1_000
"""Distinct cadences: fleets repeat themselves, but not altogether."""
_PERIOD: Final = timedelta(hours=1)
_AHEAD: Final = timedelta(seconds=20)

Work = Callable[[Node, Shards], Awaitable[float]]


def plan(url: str | None, *, n: int = 200_000) -> dict[str, object]:
    with place(url) as settings:
        given = uvloop.run(_timed(settings, n, _with_slots_given))
    with place(url) as settings:
        real = uvloop.run(_timed(settings, n, _with_the_planner))
    return {
        "bench": "plan", "timers": n, "seconds": round(n / real, 3), "firings_per_s": round(real),
        "ceiling_per_s": round(given), "ceiling_ratio": round(real / given, 3),
    }  # fmt: skip


async def _timed(settings: Settings, n: int, work: Work) -> float:
    connection = await connect_patiently(settings)
    try:
        await open_days(connection)
        first = (await planning.now(connection)).replace(microsecond=0) + _AHEAD
        await load_fleet(connection, n, _cadences(first), NOOP, first)
        await settle_down(connection)
        node = Node(settings, "planner", Events())
        await node.open()
        shards = Shards(node.pool, node.lease, node.events)
        await shards.tick()
        seconds = await work(node, shards)
        await node.close()
        planned = await connection.fetchval("select count(*) from detent.waiting")
    finally:
        await connection.close()
    if planned != n:
        raise BenchError(f"{planned} firings are waiting, of {n} timers")
    return n / seconds


def _cadences(first: datetime) -> list[str]:
    """Hourly, each with an anchor of its own."""
    return [
        json.dumps(
            {"triggers": [{"every": "1h", "start_at": format_instant(first + timedelta(milliseconds=n))}]}
        )
        for n in range(_KINDS)
    ]


async def _with_the_planner(node: Node, shards: Shards) -> float:
    planner = Planner(node.pool, node.lease, shards, node.settings, node.events)
    began = clock.monotonic()
    while await planner.tick():
        pass
    return clock.monotonic() - began


async def _with_slots_given(node: Node, shards: Shards) -> float:
    """The same reads and writes, without a thought: each timer fires where it stands, and again an hour later."""
    each, began = MOST // SHARDS, clock.monotonic()
    async with node.pool.acquire() as connection:
        now = await planning.now(connection)
        floors = dict.fromkeys(shards.held, now)
        while due := await planning.due_timers(
            connection, floors, now + node.settings.look_ahead_delta, each
        ):
            moves = Moves(
                timers=[(row[0], row[1], row[2], row[1] + _PERIOD, 1) for row in due],
                firings=[(row[0], row[1], row[1], "slot") for row in due],
            )
            await planning.plan(connection, node.lease.id, shards.held, moves)
            floors = {row[4]: row[1] for row in due}
    return clock.monotonic() - began
