-- A dead node without running rows leaves, and its shards are free. No row: it still has some, more than one look settles
-- or such as it is concluding itself, or handing back; then its lease is over for good, also for a renewal that was sent
-- before it ran out. Locks: the node, held already, then its shards, in order.
with gone as (
  delete from detent.node n where n.id = $1 and not exists (select from detent.running r where r.node = $1) returning n.id
), over as (
  update detent.node set lease_expires_at = least(lease_expires_at, detent.now() - interval '20 s')
  where id = $1 and not exists (select from gone)
), mine as (
  select s.id from detent.shard s where s.holder = $1 order by s.id for update
), given as (
  update detent.shard s set holder = null from mine m where s.id = m.id
)
select id from gone
