-- Shards that others should have. Locks: the shard rows, in order, as planning does.
with mine as (
  select s.id from detent.shard s where s.id = any ($2) and s.holder = $1 order by s.id for update
)
update detent.shard s set holder = null from mine m where s.id = m.id returning s.id
