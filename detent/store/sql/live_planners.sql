-- Who may share the shards, and by whose zone rules. No locks.
select id, tzdata from detent.node where kind in ('planner', 'all') and lease_expires_at > detent.now() and not stopping
