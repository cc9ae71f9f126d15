"""Zone rules, as the store keeps them: by package, and which package plans."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from detent.domain.zone import Zone
from detent.domain.zone_change import Span, from_spans
from detent.store.pool import Connection
from detent.store.statements import statement


class InZones(NamedTuple):
    """A schedule whose slots follow some zone's clock."""

    id: int
    tenant: str
    name: str
    cadence: str
    tzdata: str | None


async def tzdata(connection: Connection) -> str | None:
    found: str | None = await connection.fetchval(statement("tzdata"))
    return found


async def set_tzdata(connection: Connection, version: str) -> None:
    await connection.execute(statement("set_tzdata"), version)


async def zone_rules(connection: Connection) -> dict[str, dict[str, Zone]]:
    """By version and name."""
    found: dict[str, dict[str, Zone]] = defaultdict(dict)
    for version, name, text in await connection.fetch(statement("zone_rules")):
        found[version][name] = from_spans(name, [Span(*span) for span in json.loads(text)])
    return found


async def write_zone_rules(connection: Connection, version: str, rules: Mapping[str, Sequence[Span]]) -> None:
    texts = [json.dumps(spans) for spans in rules.values()]
    await connection.execute(statement("write_zone_rules"), version, list(rules), texts)


async def schedules_in_zones(
    connection: Connection, after: int, until: int, zones: Sequence[str]
) -> list[InZones]:
    """Those with ids in (after, until]."""
    patterns = [f'%"{name}"%' for name in zones]
    rows = await connection.fetch(statement("schedules_in_zones"), after, until, patterns)
    return [InZones(*row) for row in rows]


async def last_schedule(connection: Connection) -> int:
    found: int = await connection.fetchval(statement("last_schedule"))
    return found
