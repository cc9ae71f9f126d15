-- A dead node without running rows leaves, and its shards are free.
with given as (update detent.shard set holder = null where holder = $1 returning id)
delete from detent.node where id = $1
