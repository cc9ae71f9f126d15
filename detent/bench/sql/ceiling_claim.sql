-- The next $1 rows of the log, claimed by moving one row, with a lease written for them.
with moved as (
  update ceiling_cursor set position = position + $1 returning position - $1 as low, position as high
), leased as (
  insert into ceiling_lease select low, high, now() from moved
)
select l.id, l.job, l.due from ceiling_log l, moved m where l.id > m.low and l.id <= m.high
