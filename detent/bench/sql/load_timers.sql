-- Timers of schedules 1 to $1: the first at $2, each a step later than the one before, in turns of $4.
insert into detent.timer (schedule_id, shard, next_at, revision, tenant_id, pool)
select i, i % 256, $2::timestamptz + (i % $4::int) * $3::interval, 1, 1, 'default' from generate_series(1, $1::int) i
