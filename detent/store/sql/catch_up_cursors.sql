-- Up to when catch-ups are already spaced out, by shard, and how much is normal there. No locks: the shard is ours.
select shard, cursor, rate from detent.catch_up where shard = any ($1)
