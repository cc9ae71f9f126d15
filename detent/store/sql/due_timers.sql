-- Timers of these shards whose cursor lies in [$2, $3], at most $4 of each shard. No locks: plan_v1 moves a timer only if
-- it still stands where it is seen here. LATERAL with a LIMIT each, so that no sort reads all that is due.
select t.schedule_id, t.next_at, t.revision, t.fired_count, t.shard, s.cadence
from unnest($1::smallint[], $2::timestamptz[]) mine (shard, floor)
cross join lateral (
  select * from detent.timer t
  where t.shard = mine.shard and t.active and t.next_at >= mine.floor and t.next_at <= $3
  order by t.next_at limit $4
) t
join detent.schedule s on s.id = t.schedule_id
