"""A command's own planning: the past under the old revision, the look-ahead window under the new one."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from detent.domain.errors import UNREADABLE
from detent.domain.identity import off_the_millisecond
from detent.domain.instant import MILLISECOND
from detent.domain.limits import EARLIEST
from detent.domain.plan import Cadence, Kind, Omission, Plan, Reason, plan
from detent.domain.schedule import read_cadence
from detent.domain.window import unrecorded, window, withheld
from detent.settings import Settings
from detent.store import planning, schedules
from detent.store.pool import Connection
from detent.store.schedules import Stored

_FARTHEST: Final = timedelta(minutes=10)
"""Twenty times the usual look-ahead: a window of a schedule that fires each second is six hundred promises."""
_WITHHELD: Final = {"paused": Reason.PAUSED, "parked": Reason.PARKED}
"""Why slots of such a schedule don't fire."""


async def account_for_the_past(
    connection: Connection, stored: Stored, until: datetime, held: Cadence | None = None
) -> Stored:
    """Every slot up to `until` that no planner has seen becomes a firing or an omission, under the revision that held.

    The misfire policy decides what still fires late. Of a schedule that is paused, or can't be read, nothing does.
    `held`: the cadence that held until now, if it isn't what the stored text says today.
    """
    begin, reason = stored.next_at, _WITHHELD.get(stored.status)
    if begin is None or begin > until:
        return stored
    after, cadence = until + timedelta.resolution, held or readable(stored.cadence)
    if cadence is None:
        past = Plan([], [Omission(begin, after, Reason.PARKED, None)], after)
    elif reason is not None:
        past = withheld(cadence, begin, after, reason)
    else:
        past = plan(cadence, begin, stored.fired_count, as_of=until, until=until)
    await _write(connection, stored.id, cadence, past, until)
    return stored._replace(next_at=past.next_at, fired_count=stored.fired_count + len(past.promises))


async def plan_window(
    connection: Connection, settings: Settings, schedule_id: int, cadence: Cadence, begin: datetime, as_of: datetime,
    *, fired: int, revision: int, before: Cadence | None, cursor: datetime | None = EARLIEST,
) -> None:  # fmt: skip
    """Promises what lies in the look-ahead, withholds what waits and is no slot any more, sets the cursor.

    `cursor` is where this revision stood until now: what it omits before is on record. The window reaches as far as
    that, and as far as something waits: a planner that looks farther ahead than we do may have promised it, or one
    before the database's clock was set back, and what is withheld no planner would promise again.
    """
    last = await schedules.last_waiting(connection, schedule_id)
    reach = max(last or as_of, (cursor or as_of) - MILLISECOND)
    ahead = max(settings.look_ahead_delta, min(reach - as_of, _FARTHEST))
    found = window(cadence, begin, fired, as_of=as_of, ahead=ahead, before=before)
    found = unrecorded(found, cadence, cursor)
    await schedules.set_timer(
        connection, schedule_id, found.next_at, active=found.next_at is not None,
        fired=fired + len(found.promises), revision=revision,
    )  # fmt: skip
    slots = [promise.slot for promise in found.promises]
    await schedules.replace_waiting(connection, schedule_id)
    await schedules.hold_but(connection, schedule_id, "edited", as_of, slots)
    await schedules.release(connection, schedule_id, slots, as_of)
    await _write(connection, schedule_id, cadence, found, as_of)
    if any(slot < as_of + timedelta(seconds=settings.poll) for slot in slots):
        await schedules.notify(connection, "")


async def promise_once(
    connection: Connection, schedule_id: int, as_of: datetime, kind: Kind, *, slot_at: datetime | None = None
) -> datetime:
    """One firing due now, outside the cadence. Its identity is its microsecond, which no slot can have."""
    at = off_the_millisecond(as_of)
    await planning.ensure_partitions(connection, at, at)
    while not await schedules.promise(connection, schedule_id, [at], [slot_at], [as_of], [kind.value]):
        at = off_the_millisecond(at + timedelta.resolution)  # somebody asked in the same microsecond
    await schedules.notify(connection, "")
    return at


def due_at(cadence: Cadence, schedule_id: int, slot: datetime, kind: Kind, as_of: datetime) -> datetime:
    """What is late is due at once; the rest is spread as the schedule says."""
    return as_of if kind is Kind.CATCH_UP else cadence.spread.in_window(str(schedule_id), slot)


def readable(text: str) -> Cadence | None:
    """None if this version can't read it."""
    try:
        return read_cadence(text)
    except UNREADABLE:
        return None


async def _write(
    connection: Connection, schedule_id: int, cadence: Cadence | None, found: Plan, as_of: datetime
) -> None:
    if found.promises and cadence is not None:
        slots = [promise.slot for promise in found.promises]
        due = [due_at(cadence, schedule_id, slot, kind, as_of) for slot, kind in found.promises]
        kinds = [promise.kind.value for promise in found.promises]
        await planning.ensure_partitions(connection, min(slots), max(slots))
        await schedules.promise(connection, schedule_id, slots, [None] * len(slots), due, kinds)
    if found.omissions:
        starts, ends, reasons, counts = zip(*found.omissions, strict=True)
        await schedules.omit(connection, schedule_id, starts, ends, [r.value for r in reasons], counts)
