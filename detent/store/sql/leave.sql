-- A node that goes in peace gives its shards back at once. Locks: its shards, its row.
with given as (update detent.shard set holder = null where holder = $1 returning id)
delete from detent.node where id = $1 and not exists (select from detent.running where node = $1)
