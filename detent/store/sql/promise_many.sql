-- The first promises of schedules that were made in this transaction. Locks: none that anybody waits for.
with made as (
  insert into detent.firing (schedule_id, scheduled_for, due_at, kind, revision, tenant_id)
  select f.id, f.scheduled_for, f.due_at, f.kind, t.revision, t.tenant_id
  from unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[], $4::text[]) f (id, scheduled_for, due_at, kind)
  join detent.timer t on t.schedule_id = f.id
  returning schedule_id, scheduled_for, due_at, kind
)
insert into detent.waiting (schedule_id, scheduled_for, pool, lane, due_at, expires_at, kind, seats, needs)
select m.schedule_id, m.scheduled_for, t.pool, t.tenant_id * 10 + t.priority, greatest(m.due_at, detent.now()),
       m.due_at + t.start_deadline, nullif(m.kind, 'slot'), t.seats, t.needs
from made m join detent.timer t on t.schedule_id = m.schedule_id
