"""The oracle: which slots a schedule should have, from its revisions, by brute force. It shares nothing with the engine
and knows no more than the world draws: periods, seconds of the minute, instants, bounds, minutes left out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import asyncpg

SECOND = timedelta(seconds=1)
_ALL = timedelta(minutes=10)
"""Longer than a world lasts."""
_LEDGER = """
select t.schedule_id, t.next_at, s.status,
  (select json_agg(json_build_array(r.number, r.spec, r.valid_from, r.valid_to) order by r.number)
   from detent.revision r where r.schedule_id = s.id)::text as revisions,
  (select json_agg(json_build_array(f.scheduled_for, f.revision, f.kind) order by f.scheduled_for)
   from detent.firing f where f.schedule_id = s.id and f.kind in ('slot', 'catch_up'))::text as firings,
  (select json_agg(json_build_array(o.from_at, o.to_at, o.reason, o.revision) order by o.from_at)
   from detent.omission o where o.schedule_id = s.id)::text as omissions
from detent.timer t join detent.schedule s on s.id = t.schedule_id order by t.schedule_id
"""


@dataclass(frozen=True, slots=True)
class Revision:
    number: int
    spec: Mapping[str, Any]
    begins: datetime
    ends: datetime | None

    def slots(self, start: datetime, end: datetime) -> Iterator[tuple[datetime, bool]]:
        """In [start, end), and whether it is left out."""
        found: dict[datetime, bool] = {}
        for trigger in self.spec["triggers"]:
            for slot in _slots(trigger, start, end):
                found[slot] = found.get(slot, True) and _left_out(trigger, slot)
        yield from sorted(found.items())


def _slots(trigger: Mapping[str, Any], start: datetime, end: datetime) -> Iterator[datetime]:
    low = max(start, _instant(trigger["start_at"])) if "start_at" in trigger else start
    high = min(end, _instant(trigger["end_at"])) if "end_at" in trigger else end
    if "at" in trigger:
        if low <= (slot := _instant(trigger["at"])) < high:
            yield slot
    elif "every" in trigger:
        slot, period = _instant(trigger["start_at"]), int(trigger["every"].removesuffix("s")) * SECOND
        while slot < high:
            if slot >= low:
                yield slot
            slot += period
    else:
        field = trigger["cron"].split()[0]
        seconds = (
            set(range(0, 60, int(field[2:]))) if field.startswith("*/") else set(map(int, field.split(",")))
        )
        slot = low.replace(microsecond=0)
        while slot < high:
            if slot >= low and slot.second in seconds:
                yield slot
            slot += SECOND


def _left_out(trigger: Mapping[str, Any], slot: datetime) -> bool:
    windows = trigger.get("exclude", {}).get("weekly", [])
    return any(window["from"] <= f"{slot:%H:%M}" < window["to"] for window in windows)


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def unaccounted(connection: asyncpg.Connection) -> list[str]:
    """Slots before the cursors that are neither a firing nor omitted, or both; and firings that are no slots."""
    wrong: list[str] = []
    for row in await connection.fetch(_LEDGER):
        wrong += _of_schedule(row)
    return wrong


def _of_schedule(row: asyncpg.Record) -> Iterator[str]:
    revisions = [
        Revision(number, spec, _instant(begins), ends and _instant(ends))
        for number, spec, begins, ends in json.loads(row["revisions"])
    ]
    firings = {_instant(at): revision for at, revision, _ in json.loads(row["firings"] or "[]")}
    omissions = [
        (_instant(begins), _instant(ends), reason, revision)
        for begins, ends, reason, revision in json.loads(row["omissions"] or "[]")
    ]
    who = row["schedule_id"]
    # Without a cursor all that the schedule ever had has been planned.
    last = row["next_at"] - timedelta(microseconds=1) if row["next_at"] else revisions[-1].begins + _ALL
    for revision in revisions:
        end = min(revision.ends or last, last)
        for slot, left_out in revision.slots(revision.begins, end + timedelta(microseconds=1)):
            if slot <= revision.begins:
                continue
            omitted = [o for o in omissions if o[0] <= slot < o[1] and o[3] >= revision.number]
            fired = slot in firings  # then no omission speaks of it
            if not fired and len(omitted) > 1:
                yield f"{who} {slot}: accounted for twice: {_said(omitted)}"
            elif not fired and not omitted and "max_firings" not in revision.spec:
                yield f"{who} {slot}: a slot of revision {revision.number} (left out: {left_out}), lost; cursor {row['next_at']}"
    by_number = {revision.number: revision for revision in revisions}
    for at, number in firings.items():
        if (at, False) not in by_number[number].slots(at, at + timedelta(microseconds=1)):
            yield f"{who} {at}: a firing of revision {number}, and no slot of it"


def _said(omissions: list[tuple[datetime, datetime, str, int]]) -> str:
    return "; ".join(f"[{o[0]}, {o[1]}) {o[2]} by revision {o[3]}" for o in omissions)
