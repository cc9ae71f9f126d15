-- Schedules 1 to $1, all with this cadence and this work.
insert into detent.schedule (id, tenant_id, name, cadence, work)
overriding system value
select i, 1, 'bench-' || i, $2, $3 from generate_series(1, $1::int) i
