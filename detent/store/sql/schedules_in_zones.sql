-- Schedules with ids in ($1, $2] whose cadence names one of these zones, as a pattern for LIKE, and the rules that they follow.
-- No locks.
select s.id, t.name as tenant, s.name, s.cadence, r.tzdata
from detent.schedule s
join detent.tenant t on t.id = s.tenant_id
join detent.revision r on r.schedule_id = s.id and r.number = s.revision
where s.id > $1 and s.id <= $2 and s.status in ('active', 'paused') and s.cadence like any ($3::text[])
order by s.id
