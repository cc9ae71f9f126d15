"""The database of a simulation: migrated, with witnesses in it, and the few days that worlds live in. One seed after the
other uses it, and finds it as if it were new."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import asyncpg

from detent.store import migrate

_HERE = Path(__file__).parent
FIRST_DAY, LAST_DAY = date(2026, 3, 7), date(2026, 3, 9)


FRESH = (_HERE / "fresh.sql").read_text()


async def prepare(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await migrate.migrate(connection)
        await connection.execute("select detent.ensure_partitions($1, $2)", FIRST_DAY, LAST_DAY)
        await connection.execute((_HERE / "witness.sql").read_text())
    finally:
        await connection.close()
