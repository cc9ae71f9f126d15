"""Nodes, their leases, and the shards that planners hold under them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from detent.store.pool import Connection
from detent.store.statements import statement


class Shard(NamedTuple):
    id: int
    epoch: int
    holder: int | None
    held: bool
    """By a node that is alive."""


async def register_node(
    connection: Connection, node: int, kind: str, version: str, tzdata: str, ttl: float
) -> None:
    await connection.execute(statement("register_node"), node, kind, version, tzdata, ttl)


async def renew_lease(connection: Connection, node: int, ttl: float) -> bool:
    """Whether the lease still was ours to renew."""
    return await connection.fetchrow(statement("renew_lease"), node, ttl) is not None


async def leave(connection: Connection, node: int) -> None:
    await connection.execute(statement("leave"), node)


async def live_planners(connection: Connection) -> dict[int, str]:
    """Each with the version of its zone rules."""
    return dict(await connection.fetch(statement("live_planners")))


async def shard_map(connection: Connection) -> list[Shard]:
    return [Shard(*row) for row in await connection.fetch(statement("shard_map"))]


async def take_shards(connection: Connection, node: int, shards: Sequence[int]) -> dict[int, int]:
    """The shards that are ours now, with their new epochs."""
    return dict(await connection.fetch(statement("take_shards"), node, shards))


async def give_shards(connection: Connection, node: int, shards: Sequence[int]) -> list[int]:
    return [row[0] for row in await connection.fetch(statement("give_shards"), node, shards)]


async def expired_node(connection: Connection) -> int | None:
    found: int | None = await connection.fetchval(statement("expired_node"))
    return found


async def bury_node(connection: Connection, node: int) -> bool:
    """Whether it is gone: not while it runs anything by the ledger."""
    return await connection.fetchrow(statement("bury_node"), node) is not None
