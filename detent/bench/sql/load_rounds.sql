-- Schedules 1 to $1, all due once in each period of $4. A shard's first is due at $2, each next one of the same shard $3
-- later, so that planners, who read shard by shard, write them in the order of their instants.
with one as (
  select i, $2::timestamptz + (i / 256) * $3::interval as at from generate_series(0, $1::int - 1) i
), made as (
  insert into detent.schedule (id, tenant_id, name, cadence, work)
  overriding system value
  select i + 1, 1, 'bench-' || i,
         format('{"triggers":[{"every":"%s","start_at":"%s"}]}', $4::text,
                to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), $5
  from one
)
insert into detent.timer (schedule_id, shard, next_at, revision, tenant_id, pool)
select i + 1, i % 256, at, 1, 1, 'default' from one
