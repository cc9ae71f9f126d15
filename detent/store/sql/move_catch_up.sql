-- The cursors only move forward, and only for the holder of the shard: plan_v1 holds the shard's row in this transaction.
-- Locks: catch_up rows, in order, after everything else.
with mine as (
  select c.shard, n.cursor, n.rate
  from unnest($1::smallint[], $2::timestamptz[], $3::float8[]) n (shard, cursor, rate)
  join detent.catch_up c on c.shard = n.shard
  join detent.shard s on s.id = n.shard and s.holder = $4
  order by c.shard
  for update of c
)
update detent.catch_up c set cursor = greatest(c.cursor, m.cursor), rate = m.rate from mine m where c.shard = m.shard
