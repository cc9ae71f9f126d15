-- A new schedule; refused (no row) if the name is taken. Its timer and its first revision, which holds from $18 on, are
-- written with it.
-- Shards are filled evenly, for ids come from a sequence.
with made as (
  insert into detent.schedule (tenant_id, name, status, cadence, work, overlap, origin, declared)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (tenant_id, name) where status <> 'deleted' do nothing
  returning id
), first as (
  insert into detent.revision (schedule_id, number, spec, valid_from, by, reason, tzdata)
  select id, 1, $9, $18, $10, $11, $19 from made
), timer as (
  insert into detent.timer (schedule_id, shard, next_at, active, revision, tenant_id, pool, priority, seats, start_deadline, needs)
  select id, id % 256, $12, false, 1, $1, $13, $14, $15, $16, $17 from made
)
select id from made
