-- The backstop: queued firings whose seat is free. There should be none. Locks: those waiting rows.
select detent.wake_v1(array(
  select distinct w.schedule_id from detent.waiting w
  where w.held = 'queued' and (w.seats = 0 or w.seats
    > (select count(*) from detent.running r where r.schedule_id = w.schedule_id)
    + (select count(*) from detent.waiting o where o.schedule_id = w.schedule_id and o.held is null and o.seat is null
       and o.due_at <= detent.now() and o.scheduled_for < w.scheduled_for))
  limit $1))
