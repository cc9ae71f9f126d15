-- Timers of schedules 1 to $1, all at one instant.
insert into detent.timer (schedule_id, shard, next_at, revision, tenant_id, pool)
select i, i % 256, $2, 1, 1, 'default' from generate_series(1, $1::int) i
