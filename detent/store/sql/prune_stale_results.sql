-- What zombies brought before $1, at most $2 at once. Locks: those rows.
delete from detent.stale_result where ctid = any (array(
  select s.ctid from detent.stale_result s where s.brought_at < $1 order by s.brought_at limit $2))
