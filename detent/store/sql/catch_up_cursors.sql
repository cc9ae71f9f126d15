-- Up to when catch-ups are already spaced out, by shard. No locks: two readers make a catch-up somewhat faster, no more.
select shard, cursor from detent.catch_up where shard = any ($1)
