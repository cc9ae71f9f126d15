-- What a schedule's last hundred successful runs took, at the 95th percentile. No locks.
select percentile_cont(0.95) within group (order by extract(epoch from finished_at - started_at))
from (
  select finished_at, started_at from detent.attempt
  where schedule_id = $1 and scheduled_for >= $2 and outcome = 'succeeded'
  order by scheduled_for desc limit 100
) last
having count(*) >= 10
