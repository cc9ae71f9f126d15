-- What waits of a schedule follows its new revision: pool, lane, seats. What was queued is so no more, for the new policy
-- decides whether it is; and what moves is due now, for claims look from the present on. Locks: those waiting rows.
update detent.waiting w
set pool = t.pool, lane = t.tenant_id * 10 + t.priority, seats = t.seats, needs = t.needs,
    held = nullif(w.held, 'queued'), due_at = greatest(w.due_at, detent.now())
from detent.timer t
where t.schedule_id = w.schedule_id and w.schedule_id = $1
  and ((w.pool, w.lane, w.seats, w.needs) is distinct from (t.pool, t.tenant_id * 10 + t.priority, t.seats, t.needs)
       or w.held = 'queued')
