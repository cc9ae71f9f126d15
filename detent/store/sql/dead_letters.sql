-- The dead firings of a tenant, the oldest first, of one schedule or of all, after a place in that order. No locks.
select d.schedule_id, d.scheduled_for, coalesce(s.name, '') as name, d.number, d.outcome, d.error, d.died_at
from detent.dead d left join detent.schedule s on s.id = d.schedule_id
where d.tenant_id = $1 and ($2::bigint is null or d.schedule_id = $2)
  and (d.died_at, d.schedule_id, d.scheduled_for) > ($3, $4, $5)
order by d.died_at, d.schedule_id, d.scheduled_for limit $6
