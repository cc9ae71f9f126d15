-- Dead firings wait again: the same keys, the next attempt. Those of deleted schedules stay where they are, and those whose
-- promise is past the retention. Who deletes the dead row owns the decision. Locks: those rows in their order, then what
-- place_v1 locks.
with asked as (
  select d.schedule_id, d.scheduled_for
  from detent.dead d join unnest($2::bigint[], $3::timestamptz[]) a (id, scheduled_for)
    on d.schedule_id = a.id and d.scheduled_for = a.scheduled_for
  where d.tenant_id = $1 and exists (select from detent.schedule s where s.id = d.schedule_id and s.status <> 'deleted')
    and exists (select from detent.firing f where f.schedule_id = d.schedule_id and f.scheduled_for = d.scheduled_for)
  order by d.schedule_id, d.scheduled_for for update of d
), taken as (
  delete from detent.dead d using asked a where d.schedule_id = a.schedule_id and d.scheduled_for = a.scheduled_for
  returning d.schedule_id, d.scheduled_for, d.number
)
insert into detent.waiting (schedule_id, scheduled_for, number, pool, lane, due_at, held, kind, slot_at, seats, needs)
select t.schedule_id, t.scheduled_for, t.number + 1, p.pool, p.lane, detent.now(), nullif(p.held, 'paused'),
       nullif(f.kind, 'slot'), f.slot_at, p.seats, p.needs
from taken t
join detent.firing f on f.schedule_id = t.schedule_id and f.scheduled_for = t.scheduled_for
cross join lateral detent.place_v1(t.schedule_id) p
returning schedule_id, scheduled_for
