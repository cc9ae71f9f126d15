"""The pruner, and loops that meet a lock: what can't be done is told with what to do, and everything else goes on."""

from __future__ import annotations

from dataclasses import replace

from detent.node.pruner import Pruner
from detent.observe.events import Events, LoopFailed, LoopRecovered, UpkeepRefused
from tests.node.test_cut import TTL


async def test_a_user_who_may_not_keep_house_is_told_once_a_tick(postgres, settings, connection):
    postgres.execute("alter role detent_planner login")
    told = []
    pruner = Pruner(
        replace(settings, database_url=settings.database_url.replace("postgres@", "detent_planner@")),
        Events(told.append),
    )
    assert await pruner.tick() is False, "it is not repeated at once"
    (event,) = [event for event in told if isinstance(event, UpkeepRefused)]
    assert event.error.endswith("give the owner of the tables by DETENT_MAINTENANCE_URL")
    await pruner.close()


# R-RUN-6
async def test_a_lock_on_a_table_stops_a_loop_for_no_longer_than_its_time_out(crew, connect):
    """Somebody alters a table: planning waits, gives up, says so once, and goes on when it can."""

    async def work() -> None:
        """Nothing."""

    await crew.does(work)
    await crew.planner(replace(crew.settings, lease_ttl=TTL))
    await crew.hire(lease_ttl=TTL)
    await crew.until("(select count(*) from detent.shard where holder is not null) = 256")
    holder = await connect()
    transaction = holder.transaction()
    await transaction.start()
    await holder.execute("set local idle_in_transaction_session_timeout = 0; lock table detent.shard")
    await crew.until_told(LoopFailed)
    await crew.fire("work")
    await crew.concluded(1)  # others do not wait for it
    await transaction.rollback()
    await crew.until_told(LoopRecovered)
    failed = crew.told_of(LoopFailed)
    assert len({event.loop for event in failed}) == len(failed), "each loop says so once"
