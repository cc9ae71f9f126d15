-- Firings that a command promises, and their waiting rows: those whose firing was really inserted, and no others.
with made as (
  insert into detent.firing (schedule_id, scheduled_for, slot_at, due_at, kind, revision, tenant_id)
  select $1, f.scheduled_for, f.slot_at, f.due_at, f.kind, t.revision, t.tenant_id
  from unnest($2::timestamptz[], $3::timestamptz[], $4::timestamptz[], $5::text[]) f (scheduled_for, slot_at, due_at, kind)
  join detent.timer t on t.schedule_id = $1
  on conflict do nothing
  returning schedule_id, scheduled_for, due_at, kind, slot_at
)
insert into detent.waiting (schedule_id, scheduled_for, pool, lane, due_at, expires_at, kind, slot_at, seats, needs)
select m.schedule_id, m.scheduled_for, t.pool, t.tenant_id * 10 + t.priority, greatest(m.due_at, detent.now()), m.due_at + t.start_deadline,
       nullif(m.kind, 'slot'), m.slot_at, t.seats, t.needs
from made m join detent.timer t on t.schedule_id = m.schedule_id
returning scheduled_for, due_at
