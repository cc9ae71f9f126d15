"""The smallest queue that the comparison with peers can measure: a program as theirs, in SQL of one line."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import asyncpg

from bench.peers.programs import stage
from detent import clock


async def install(said):
    connection = await asyncpg.connect(said["url"])
    await connection.execute("create table job (due timestamptz)")
    await connection.close()


async def load(said):
    connection = await asyncpg.connect(said["url"])
    for batch in stage.dues(said["n"], said["first"], said["step"], 100):
        rows = [(datetime.fromtimestamp(due, UTC),) for due in batch]
        await connection.copy_records_to_table("job", records=rows)
    await connection.close()


async def work(said, on_stage):
    if said["options"].get("gives_up"):
        raise SystemExit("no more")
    connection = await asyncpg.connect(said["url"])
    ended = asyncio.Event()
    on_stage.working(ended.set)
    ticked = clock.realtime() // 1
    while not ended.is_set():
        for due in await connection.fetch(
            "delete from job where ctid = any(array(select ctid from job where due <= now() limit 50 for update skip locked)) returning due"
        ):
            on_stage.began(due[0].timestamp())
        if said["schedules"] and clock.realtime() // 1 > ticked:
            ticked = clock.realtime() // 1
            for _ in range(said["schedules"]):
                on_stage.began(ticked)
        await clock.sleep(0.01)


if __name__ == "__main__":
    said = stage.told()
    match stage.verb():
        case "install":
            asyncio.run(install(said))
        case "load":
            asyncio.run(load(said))
        case _:
            asyncio.run(work(said, stage.Stage(said["folder"])))
