-- Schedules 1 to $1 with this work; the cadences take turns.
insert into detent.schedule (id, tenant_id, name, cadence, work)
overriding system value
select i, 1, 'bench-' || i, ($2::text[])[i % cardinality($2::text[]) + 1], $3 from generate_series(1, $1::int) i
