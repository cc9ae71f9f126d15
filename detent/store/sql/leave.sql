-- A node that goes in peace: its shards are free at once, and its lease is over. The reaper removes it, and settles what it
-- may have left behind: a claim of its own that commits only now is seen by nobody else. Locks: its row, its shards in order.
with mine as (
  select s.id from detent.shard s where s.holder = $1 order by s.id for update
), given as (
  update detent.shard s set holder = null from mine m where s.id = m.id
)
update detent.node set stopping = true, lease_expires_at = least(lease_expires_at, detent.now()) where id = $1
