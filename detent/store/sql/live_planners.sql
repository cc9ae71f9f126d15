-- Who shares the shards. No locks.
select id from detent.node where kind in ('planner', 'all') and lease_expires_at > detent.now() and not stopping
