-- A node that goes in peace: its shards are free at once, and its lease is over. The reaper removes it, and settles what it
-- may have left behind: a claim of its own that commits only now is seen by nobody else. Locks: its shards, its row.
with given as (update detent.shard set holder = null where holder = $1 returning id)
update detent.node set stopping = true, lease_expires_at = least(lease_expires_at, detent.now()) where id = $1
