-- A promised firing of each schedule from 1 to $1, waiting, due at one instant.
with timers as (
  insert into detent.timer (schedule_id, shard, active, revision, tenant_id, pool)
  select i, i % 256, false, 1, 1, 'default' from generate_series(1, $1::int) i
), promised as (
  insert into detent.firing (schedule_id, scheduled_for, due_at, kind, revision, tenant_id)
  select i, $2, $2, 'slot', 1, 1 from generate_series(1, $1::int) i
)
insert into detent.waiting (schedule_id, scheduled_for, pool, lane, due_at, seats)
select i, $2, 'default', 14, $2, 1 from generate_series(1, $1::int) i
