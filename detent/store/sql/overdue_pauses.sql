-- Schedules whose pause is over. No locks.
select s.id, t.name as tenant, s.name from detent.schedule s join detent.tenant t on t.id = s.tenant_id
where s.paused_until <= detent.now() and s.status = 'paused' order by s.paused_until limit $1
