"""The ceiling: what bare PostgreSQL does on this machine with nothing of a scheduler around it."""

from __future__ import annotations

from typing import Final

from detent import clock
from detent.bench.fleet import bench_statement
from detent.settings import Settings
from detent.store.pool import connect_patiently

_BATCH: Final = 500


async def append_only(settings: Settings, n: int) -> float:
    """Rows a second of the barest durable form: a whole batch is claimed by moving one row, the results are copied in.
    No seat, no fence, no retry, no lane; one connection, as it was measured for the design."""
    connection = await connect_patiently(settings)
    try:
        await connection.execute(bench_statement("ceiling_tables"))
        await connection.execute(bench_statement("ceiling_fill"), n)
        await connection.execute("vacuum analyze ceiling_log")
        await connection.execute("checkpoint")
        began, done = clock.monotonic(), 0
        claim = await connection.prepare(bench_statement("ceiling_claim"))
        while rows := await claim.fetch(_BATCH):
            now = clock.now()
            await connection.copy_records_to_table(
                "ceiling_result", records=[(row[0], row[1], row[2], now, 2) for row in rows]
            )
            done += len(rows)
        return done / (clock.monotonic() - began)
    finally:
        await connection.execute(
            "drop table if exists ceiling_log, ceiling_result, ceiling_cursor, ceiling_lease"
        )
        await connection.close()
