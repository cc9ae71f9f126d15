-- The backstop: schedules whose oldest queued firing could have a seat, for none is before it in turn. There should be none.
-- Locks: those waiting rows.
select detent.wake_v1(array(
  select q.schedule_id
  from (
    select w.schedule_id, min(w.scheduled_for) as first, max(w.seats) as seats
    from detent.waiting w where w.held = 'queued' group by w.schedule_id
  ) q
  where q.seats = 0 or q.seats
    > (select count(*) from detent.running r where r.schedule_id = q.schedule_id)
    + (select count(*) from detent.waiting o where o.schedule_id = q.schedule_id and o.held is null and o.seat is null
       and o.due_at <= detent.now() and o.scheduled_for < q.first)
  limit $1))
