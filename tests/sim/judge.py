"""The judge: looks at the database and at what really runs, after every step, and once more at the end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg

from detent.store.statements import statement
from tests.sim import oracle
from tests.sim.director import Director
from tests.sim.handlers import Handlers, Run
from tests.sim.world import Person

_HERE = Path(__file__).parent
_LOOK, _END = (_HERE / "look.sql").read_text(), (_HERE / "end.sql").read_text()
_DUE = """
select w.due_at from unnest($1::bigint[], $2::timestamptz[], $3::int[]) r (schedule_id, scheduled_for, number)
left join lateral (select max(due_at) as due_at from sim.waited w
  where w.schedule_id = r.schedule_id and w.scheduled_for = r.scheduled_for and w.number = r.number) w on true
"""
_ACTIVE = """
select t.name, s.name from detent.schedule s join detent.tenant t on t.id = s.tenant_id
where s.status = 'active' order by s.id
"""
_LEFT_OVER = """
select format('%s %s waits (%s), due at %s, held: %s', schedule_id, scheduled_for, number, due_at, held) from detent.waiting
union all select format('%s %s runs (%s) on %s', schedule_id, scheduled_for, number, node) from detent.running
"""
_EARLY = timedelta(microseconds=2)
"""Instants as floating-point seconds are as coarse as that."""


class Breach(AssertionError):
    """A promise was broken."""


class Judge:
    def __init__(
        self, director: Director, handlers: Handlers, begin: datetime, reported: Sequence[str]
    ) -> None:
        self._director = director
        self._handlers = handlers
        self._window = begin - timedelta(days=1), begin + timedelta(days=2)
        self._reported = reported
        """What went wrong where exceptions go to die: in loops and callbacks."""
        self.looks = 0

    def look(self) -> None:
        if self._reported:
            raise Breach(self._reported[0])
        if self._handlers.fresh:
            self._look_at_beginnings(self._handlers.fresh)
            self._handlers.fresh.clear()
            self._director.changed = True
        if self._director.changed:
            self._director.changed = False
            self.looks += 1
            living = [run for run in self._handlers.living if run.lives]
            self._refuse(self._ask(_LOOK, *_columns(living), self._director.now))

    def look_at_all(self) -> None:
        """Every firing is in one place, and every slot before a cursor is accounted for, once."""
        for row in self._ask(statement("breaches"), *self._window):
            raise Breach(f"{row[0]} {row[1]}: {row[2]}")
        server = self._director.server
        for wrong in server.ask(oracle.unaccounted(server.watcher)):
            raise Breach(wrong)

    def left_over(self) -> list[str]:
        return [row[0] for row in self._ask(_LEFT_OVER)]

    def active(self) -> list[tuple[str, str]]:
        """Schedules that have not ended, with their tenants."""
        return [tuple(row) for row in self._ask(_ACTIVE)]

    def last_words(self, people: Sequence[Person]) -> None:
        """Nothing is left over, and all that really happened is on record."""
        self._director.server.set_watchers_clock(self._director.now)
        for left in self.left_over():
            raise Breach(f"left over: {left}")
        runs = self._handlers.runs
        told = [not (r.process.dead or r.process.stopped or r.process.cut) for r in runs]
        self._refuse(self._ask(_END, *_columns(runs), [r.succeeded for r in runs], told))
        for person in people:
            person.swear(self._ask)

    def _look_at_beginnings(self, runs: Sequence[Run]) -> None:
        found = self._ask(
            _DUE, [r.schedule_id for r in runs], [r.key_at for r in runs], [r.number for r in runs]
        )
        for run, (due_at,) in zip(runs, found, strict=True):
            if due_at is None:
                raise Breach(f"{run.schedule_id} {run.key_at} ({run.number}) began, and never waited")
            if self._director.latest + _EARLY < due_at:
                raise Breach(f"{run.schedule_id} {run.key_at} began at {run.began}, due at {due_at}")

    def _ask(self, sql: str, *arguments: Any) -> list[asyncpg.Record]:
        server = self._director.server
        return server.ask(server.watcher.fetch(sql, *arguments))

    @staticmethod
    def _refuse(rows: Sequence[asyncpg.Record]) -> None:
        for row in rows:
            raise Breach(row[0])


def _columns(runs: Sequence[Run]) -> tuple[list[int], list[datetime], list[int]]:
    return [r.schedule_id for r in runs], [r.key_at for r in runs], [r.volley for r in runs]
