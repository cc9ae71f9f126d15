-- A schedule that can't be read is put aside with its error, so that the others go on. It is never deleted. Locks: its
-- timer, its schedule. An edit meanwhile has another revision and wins.
with timer as (
  update detent.timer set active = false where schedule_id = $1 and revision = $2 returning schedule_id
)
update detent.schedule s set status = 'parked', status_reason = $3, paused_until = null from timer t
where s.id = t.schedule_id and s.status in ('active', 'paused')
