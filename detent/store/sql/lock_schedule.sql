-- A schedule for a change, once its timer is locked. Locks: its row.
select s.id, s.revision, s.status, s.paused_until, s.cadence, s.origin, s.declared, t.next_at, t.active, t.fired_count, r.spec, r.tzdata
from detent.schedule s
join detent.timer t on t.schedule_id = s.id
join detent.revision r on r.schedule_id = s.id and r.number = s.revision
where s.id = $1 and s.status <> 'deleted'
for update of s
