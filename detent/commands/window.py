"""A command's own planning: the past under the old revision, the look-ahead window under the new one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from detent.domain.plan import Cadence, Kind, Omission, Plan, plan
from detent.domain.schedule import read_cadence
from detent.settings import Settings
from detent.store import planning, schedules
from detent.store.pool import Connection
from detent.store.schedules import Stored


async def account_for_the_past(connection: Connection, stored: Stored, as_of: datetime) -> Stored:
    """Slots before now that no planner has seen yet: promised late or omitted, as the misfire policy has it."""
    assert stored.next_at is not None
    cadence = read_cadence(stored.cadence)
    past = plan(cadence, stored.next_at, stored.fired_count, as_of=as_of, until=as_of)
    await _write(connection, stored.id, cadence, past, as_of)
    return stored._replace(next_at=past.next_at, fired_count=stored.fired_count + len(past.promises))


async def plan_window(
    connection: Connection, settings: Settings, schedule_id: int, cadence: Cadence, begin: datetime, as_of: datetime,
    *, fired: int, revision: int,
) -> None:  # fmt: skip
    """Promises what lies in the look-ahead, withholds what waits there and is no slot any more, sets the cursor."""
    window = plan(cadence, begin, fired, as_of=as_of, until=as_of + settings.look_ahead_delta)
    await schedules.set_timer(
        connection, schedule_id, window.next_at, active=window.next_at is not None,
        fired=fired + len(window.promises), revision=revision,
    )  # fmt: skip
    slots = [promise.slot for promise in window.promises]
    await schedules.replace_waiting(connection, schedule_id)
    await schedules.hold(connection, schedule_id, "edited", slots, everything=False)
    await schedules.release(connection, schedule_id, slots)
    await _write(connection, schedule_id, cadence, window, as_of)
    if any(slot < as_of + timedelta(seconds=settings.poll) for slot in slots):
        await schedules.notify(connection, "")


async def promise_once(connection: Connection, schedule_id: int, at: datetime, kind: Kind) -> None:
    """One firing due now, outside the cadence."""
    await planning.ensure_partitions(connection, at, at)
    await schedules.promise(connection, schedule_id, [at], [None], [at], [kind.value])
    await schedules.notify(connection, "")


async def _write(
    connection: Connection, schedule_id: int, cadence: Cadence, found: Plan, as_of: datetime
) -> None:
    if found.promises:
        slots = [promise.slot for promise in found.promises]
        due = [
            as_of
            if promise.kind is Kind.CATCH_UP
            else cadence.spread.in_window(str(schedule_id), promise.slot)
            for promise in found.promises
        ]
        await planning.ensure_partitions(connection, min(slots), max(slots))
        await schedules.promise(
            connection,
            schedule_id,
            slots,
            [None] * len(slots),
            due,
            [promise.kind.value for promise in found.promises],
        )
    if found.omissions:
        await _omit(connection, schedule_id, found.omissions)


async def _omit(connection: Connection, schedule_id: int, omissions: Sequence[Omission]) -> None:
    await schedules.omit(
        connection, schedule_id,
        [o.start for o in omissions], [o.end for o in omissions],
        [o.reason.value for o in omissions], [o.slots for o in omissions],
    )  # fmt: skip
