-- A firing of a tenant, by its key: its nominal slot, the name of its schedule (null if that was deleted), and whether it is
-- concluded. No locks.
select coalesce(f.slot_at, f.scheduled_for) as slot_at, s.name,
  exists (select from detent.attempt a where a.schedule_id = $2 and a.scheduled_for = $3 and a.final) as concluded
from detent.firing f left join detent.schedule s on s.id = f.schedule_id and s.status <> 'deleted'
where f.tenant_id = $1 and f.schedule_id = $2 and f.scheduled_for = $3
