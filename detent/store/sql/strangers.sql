-- What waits overdue in these pools and can't be done by who asks: each work once, among the first found. No locks.
select distinct w.pool, s.work
from (
  select w.pool, w.schedule_id, w.needs from detent.waiting w
  where w.pool = any ($1) and w.held is null and w.due_at <= detent.now() - $3::interval
  limit 10000
) w join detent.schedule s on s.id = w.schedule_id
where w.needs <> all ($2::int[])
limit $4
