-- A schedule for a change. Locks: its timer, then its schedule row, so that planners and other editors wait.
with timer as (
  select t.* from detent.timer t
  join detent.schedule s on s.id = t.schedule_id
  where s.tenant_id = $1 and s.name = $2 and s.status <> 'deleted'
  for update of t
)
select s.id, s.revision, s.status, s.cadence, s.origin, s.declared, t.next_at, t.active, t.fired_count, r.spec
from timer t
join detent.schedule s on s.id = t.schedule_id
join detent.revision r on r.schedule_id = s.id and r.number = s.revision
for update of s
