-- Omissions that were recorded and over before $1, at most $2 at once. Locks: those rows.
delete from detent.omission where ctid = any (array(
  select o.ctid from detent.omission o where o.recorded_at < $1 and o.to_at < $1 order by o.recorded_at limit $2))
