-- Held firings may run again, if their instant has not passed. Their place in the house is that of the new revision.
update detent.waiting w
set held = null
from detent.timer t
where t.schedule_id = w.schedule_id and w.schedule_id = $1 and w.held is not null and w.held <> 'queued'
  and w.due_at > detent.now() and ($2::timestamptz[] is null or w.scheduled_for = any ($2))
returning w.scheduled_for
