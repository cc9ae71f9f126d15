"""A planner as a whole: shards, planning, and the housekeeping that needs no worker."""

from __future__ import annotations

from typing import Final

from detent.node.deadlines import Deadlines
from detent.node.node import Node
from detent.node.overlaps import Overlaps
from detent.node.pauses import Pauses
from detent.node.planner import Planner
from detent.node.pruner import EVERY_SECONDS, Pruner
from detent.node.reaper import Reaper
from detent.node.shards import Shards
from detent.node.zone_rules import EVERY_SECONDS as ZONE_RULES_SECONDS
from detent.node.zone_rules import ZoneRules

_SHARDS_SECONDS: Final = 0.5
_OVERLAPS_SECONDS: Final = 1.0
_DEADLINES_SECONDS: Final = 0.25
_HOUSEKEEPING_SECONDS: Final = 1.0


def add_planner(node: Node) -> Shards:
    """The loops of a planner, on a node that may do other things as well."""
    shards = Shards(node.pool, node.lease, node.events)
    planner = Planner(node.pool, node.lease, shards, node.settings, node.events)
    node.loop("shards", shards.tick, every=_SHARDS_SECONDS)
    plan = node.loop("plan", planner.tick, every=node.settings.plan_every)

    def changed() -> None:
        planner.shards_changed()
        plan.wake()

    shards.on_change = changed
    node.loop("deadlines", Deadlines(node.pool, node.events).tick, every=_DEADLINES_SECONDS)
    node.loop("reap", Reaper(node.pool, node.events).tick, every=_HOUSEKEEPING_SECONDS)
    node.loop("pauses", Pauses(node.pool, node.settings, node.events).tick, every=_HOUSEKEEPING_SECONDS)
    rules = ZoneRules(node.pool, shards, node.settings, node.events)
    node.loop("zone rules", rules.tick, every=ZONE_RULES_SECONDS)
    node.loop("overlaps", Overlaps(node.pool, node.events).tick, every=_OVERLAPS_SECONDS)
    return shards


def add_pruner(node: Node, shards: Shards) -> Pruner:
    """The upkeep of partitions: by one planner at a time, who holds shard 0."""
    pruner = Pruner(node.settings, node.events, mine=lambda: 0 in shards.held)
    node.loop("prune", pruner.tick, every=EVERY_SECONDS)
    return pruner
