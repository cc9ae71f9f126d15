-- The database as it was when it was made: between two seeds.
do $$
declare
  names text;
  name text;
begin
  select string_agg(c.oid::regclass::text, ', ') into names
  from pg_class c
  where c.relnamespace in ('detent'::regnamespace, 'sim'::regnamespace) and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname <> 'migration';
  execute 'truncate ' || names || ' restart identity';
  for name in select c.oid::regclass from pg_class c where c.relnamespace = 'detent'::regnamespace and c.relkind = 'S' loop
    execute format('alter sequence %s restart', name);
  end loop;
end $$;
alter sequence detent.tenant_id_seq restart with 2;
insert into detent.tenant (id, name) values (1, 'default');
insert into detent.pool (name) values ('default');
insert into detent.shard (id) select generate_series(0, 255);
insert into detent.catch_up (shard) select generate_series(0, 255);
