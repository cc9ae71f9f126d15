"""Witnesses in the database: triggers that raise at the very moment when an invariant of reliability.md §3 is broken.

* S2: at commit, each firing's epoch is its shard's.
* S5: at commit, nothing is claimed of a schedule that is paused or deleted, unless somebody asked for that firing.
* S6: an attempt never changes once written, and none is written after the firing's last word.
* S8: a cursor goes back only to what lies ahead of a change (an edit to a closer cadence), never to what has passed.
"""

from __future__ import annotations

import asyncpg

_WITNESSES = """
create schema witness;

create function witness.of_epochs() returns trigger language plpgsql as $$
begin
  if new.epoch is not null and not exists (
    select from detent.shard s join detent.timer t on t.shard = s.id
    where t.schedule_id = new.schedule_id and s.epoch = new.epoch)
  then
    raise 'S2: a firing of epoch %, which has passed', new.epoch;
  end if;
  return null;
end $$;
create constraint trigger s2 after insert on detent.firing deferrable initially deferred
for each row execute function witness.of_epochs();

create function witness.of_pauses() returns trigger language plpgsql as $$
begin
  if new.node is not null and exists (
    select from detent.schedule s join detent.firing f on f.schedule_id = s.id
    where s.id = new.schedule_id and f.scheduled_for = new.scheduled_for
      and s.status in ('paused', 'deleted') and f.kind not in ('manual', 'rerun'))
  then
    raise 'S5: a firing was claimed though its schedule is withheld';
  end if;
  return null;
end $$;
create constraint trigger s5 after insert or update of node on detent.running deferrable initially deferred
for each row execute function witness.of_pauses();

create function witness.of_facts() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    raise 'S6: an attempt is %d', lower(tg_op);
  end if;
  if exists (select from detent.attempt a where a.schedule_id = new.schedule_id
             and a.scheduled_for = new.scheduled_for and a.final) then
    raise 'S6: an attempt after the last word';
  end if;
  return new;
end $$;
create trigger s6 before insert or update or delete on detent.attempt
for each row execute function witness.of_facts();

create function witness.of_cursors() returns trigger language plpgsql as $$
declare
  began timestamptz := coalesce(nullif(current_setting('detent.now', true), '')::timestamptz, transaction_timestamp());
begin
  if new.next_at < old.next_at and new.next_at < began then
    raise 'S8: the cursor of % goes back from % to %', new.schedule_id, old.next_at, new.next_at;
  end if;
  return null;
end $$;
create trigger s8 after update on detent.timer for each row execute function witness.of_cursors();
"""

TOKENS_THAT_SHRANK = """
select a.schedule_id, a.scheduled_for, a.number, a.volley, b.number, b.volley
from detent.attempt a join detent.attempt b using (schedule_id, scheduled_for)
where a.number > 0 and a.number < b.number and a.volley >= b.volley
"""
"""S3: each attempt is covered by a claim of its own, whose token is larger than those before."""


async def call_witnesses(connection: asyncpg.Connection) -> None:
    await connection.execute(_WITNESSES)
