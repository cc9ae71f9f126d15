-- Free shards, or shards of dead holders, change hands: the epoch rises in the same statement. Locks: the shard rows. This
-- waits for planning transactions under the old epoch, and those that come later find no guard row.
update detent.shard s set holder = $1, epoch = s.epoch + 1
from (
  select f.id from detent.shard f
  where f.id = any ($2)
    and not exists (select from detent.node n where n.id = f.holder and n.lease_expires_at > detent.now())
  order by f.id for update skip locked
) free
where s.id = free.id and exists (select from detent.node n where n.id = $1 and n.lease_expires_at > detent.now())
returning s.id, s.epoch
