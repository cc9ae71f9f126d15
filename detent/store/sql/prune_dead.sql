-- Dead firings whose promise has left with its day, at most $2 at once: nobody could replay them. Locks: those rows.
delete from detent.dead where (schedule_id, scheduled_for) in (
  select d.schedule_id, d.scheduled_for from detent.dead d
  where d.scheduled_for < $1 and not exists (
    select from detent.firing f where f.schedule_id = d.schedule_id and f.scheduled_for = d.scheduled_for)
  limit $2)
