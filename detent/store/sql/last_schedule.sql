-- The largest id of a schedule. No locks.
select coalesce(max(id), 0) from detent.schedule
