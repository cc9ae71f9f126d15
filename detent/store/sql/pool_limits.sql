-- The cap of a pool, and how long its firings may take that say nothing of it; made on first use. Locks: none once it is made.
with made as (
  insert into detent.pool (name) values ($1) on conflict do nothing returning cap, timeout
)
select cap, timeout from made union all select cap, timeout from detent.pool where name = $1
