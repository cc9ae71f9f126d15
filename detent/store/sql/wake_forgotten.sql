-- The backstop: queued firings whose seat is free. There should be none. Locks: those waiting rows.
select detent.wake_v1(array(
  select distinct w.schedule_id from detent.waiting w
  where w.held = 'queued' and (select count(*) from detent.running r where r.schedule_id = w.schedule_id) < w.seats
  limit $1))
