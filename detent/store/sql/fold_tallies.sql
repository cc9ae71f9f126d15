-- The counts of the minutes in [$1, $2) become one row for each minute, tenant and outcome. Flushes append, so that nobody
-- waits for a counter; a flush that comes later than this adds a row, which sums count as well. Locks: those rows.
with flushed as (
  delete from detent.tally where minute >= $1 and minute < $2 returning minute, tenant_id, outcome, n
)
insert into detent.tally (minute, tenant_id, outcome, n)
select minute, tenant_id, outcome, sum(n) from flushed group by minute, tenant_id, outcome
