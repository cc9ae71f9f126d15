-- What runs said of themselves before $1 that are over, at most $2 at once. Locks: those rows.
delete from detent.progress where (schedule_id, scheduled_for) in (
  select p.schedule_id, p.scheduled_for from detent.progress p
  where p.at < $1 and not exists (
    select from detent.running r where r.schedule_id = p.schedule_id and r.scheduled_for = p.scheduled_for)
  limit $2)
