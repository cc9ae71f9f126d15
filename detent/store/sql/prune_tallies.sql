-- Counts of minutes before $1, at most $2 at once. Locks: those rows.
delete from detent.tally where ctid = any (array(
  select t.ctid from detent.tally t where t.minute < $1 order by t.minute limit $2))
