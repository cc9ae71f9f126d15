"""PgQueuer, with asyncpg and uvloop as Detent has them."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job, Schedule
from pgqueuer.queries import Queries

from bench.peers.programs import stage

_BATCH = 100
"""It is told delays, not instants: what passes while a batch is made and sent makes its jobs late."""


async def install(said: dict[str, Any]) -> None:
    connection = await asyncpg.connect(said["url"])
    await Queries(AsyncpgDriver(connection)).install()
    await connection.close()


async def load(said: dict[str, Any]) -> None:
    connection = await asyncpg.connect(said["url"])
    queries = Queries(AsyncpgDriver(connection))
    for batch in stage.dues(said["n"], said["first"], said["step"], _BATCH):
        payloads: list[bytes | None] = [repr(due).encode() for due in batch]
        delays: list[timedelta | None] = [timedelta(seconds=max(0.0, stage.until(due))) for due in batch]
        await queries.enqueue(["noop"] * len(batch), payloads, [0] * len(batch), delays)
    await connection.close()


async def work(said: dict[str, Any], on_stage: stage.Stage) -> None:
    peer = PgQueuer.from_asyncpg_connection(await asyncpg.connect(said["url"]))
    options = said["options"]
    peer.qm.min_dequeue_poll_interval = timedelta(seconds=options["poll_seconds"])

    async def noop(job: Job) -> None:
        on_stage.began(float(job.payload or b"0"))

    async def tick(_: Schedule) -> None:
        on_stage.began(stage.minute())

    peer.entrypoint("noop")(noop)
    for i in range(said["schedules"]):
        peer.schedule(f"bench-{i}", "* * * * *")(tick)
    on_stage.working(peer.shutdown.set)
    await peer.run(batch_size=options["batch_size"])


def main() -> None:
    uvloop.install()
    said = stage.told()
    match stage.verb():
        case "install":
            asyncio.run(install(said))
        case "load":
            asyncio.run(load(said))
        case _:
            asyncio.run(work(said, stage.Stage(said["folder"])))


if __name__ == "__main__":
    main()
