-- Revisions that others replaced before $1, at most $2 at once: no slot that history still has was theirs. Locks: those rows.
delete from detent.revision where (schedule_id, number) in (
  select r.schedule_id, r.number from detent.revision r where r.valid_to < $1 order by r.valid_to limit $2)
