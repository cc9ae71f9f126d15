-- Shards that others should have. Locks: the shard rows.
update detent.shard set holder = null where id = any ($2) and holder = $1 returning id
