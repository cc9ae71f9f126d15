-- Who holds what, and whether that holder is alive. No locks.
select s.id, s.epoch, s.holder, n.id is not null as held
from detent.shard s
left join detent.node n on n.id = s.holder and n.lease_expires_at > detent.now()
order by s.id
