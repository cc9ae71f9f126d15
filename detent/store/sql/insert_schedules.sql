-- Many new schedules with their first revisions and timers; names that are taken are left out. What comes back are the
-- names that were free, with their ids. Shards are filled evenly, for ids come from a sequence. Locks: the names, in
-- order, so that two who bring the same ones wait in one direction. The revisions hold from $19 on.
with given as (
  select * from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::jsonb[], $8::timestamptz[],
                       $9::boolean[], $10::int[], $11::text[], $12::smallint[], $13::int[], $14::interval[], $15::int[])
    g (name, status, cadence, work, overlap, spec, next_at, active, fired, pool, priority, seats, start_deadline, needs)
), made as (
  insert into detent.schedule (tenant_id, name, status, cadence, work, overlap, origin)
  select $1, g.name, g.status, g.cadence, g.work, g.overlap, $16 from given g
  order by g.name
  on conflict (tenant_id, name) where status <> 'deleted' do nothing
  returning id, name
), first as (
  insert into detent.revision (schedule_id, number, spec, valid_from, by, reason, tzdata)
  select m.id, 1, g.spec, $19, $17, $18, $20 from made m join given g on g.name = m.name
), timer as (
  insert into detent.timer (schedule_id, shard, next_at, active, revision, fired_count, tenant_id, pool, priority, seats,
                            start_deadline, needs)
  select m.id, m.id % 256, g.next_at, g.active, 1, g.fired, $1, g.pool, g.priority, g.seats, g.start_deadline, g.needs
  from made m join given g on g.name = m.name
)
select id, name from made
