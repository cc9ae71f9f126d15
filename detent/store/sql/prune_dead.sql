-- Dead firings whose partitions have left, at most $2 at once. Locks: those rows.
delete from detent.dead where (schedule_id, scheduled_for) in (
  select d.schedule_id, d.scheduled_for from detent.dead d where d.died_at < $1 and d.scheduled_for < $1
  order by d.died_at limit $2)
