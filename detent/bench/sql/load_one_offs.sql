-- Schedules 1 to $1 that fire once: the first at $2, each a step of $3 after the one before.
with one as (
  select i, $2::timestamptz + i * $3::interval as at from generate_series(0, $1::int - 1) i
), made as (
  insert into detent.schedule (id, tenant_id, name, cadence, work)
  overriding system value
  select i + 1, 1, 'bench-' || i,
         format('{"triggers":[{"at":"%s"}]}', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), $4
  from one
)
insert into detent.timer (schedule_id, shard, next_at, revision, tenant_id, pool)
select i + 1, i % 256, at, 1, 1, 'default' from one
