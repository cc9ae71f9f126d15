-- What each role may do, and nothing else. History is append-only for all of them: firings, attempts and omissions are
-- never updated or deleted but with their partitions, by their owner. Runs as the owner, after every migration.
do $$
declare
  one record;
begin
  -- Makes tables as their owner, so not for everybody.
  revoke execute on function detent.ensure_partitions(date, date) from public;

  for one in
    select rolname as role from pg_roles where rolname in ('detent_api', 'detent_planner', 'detent_worker')
  loop
    execute format('revoke all on all tables in schema detent from %I', one.role);
    execute format('revoke all on all sequences in schema detent from %I', one.role);
    execute format('grant usage on schema detent to %I', one.role);
  end loop;

  for one in
    select r.role, r.rights, target
    from (values
      -- Commands: what a person can ask for.
      ('detent_api', 'select', 'migration node shard catch_up progress stale_result tzdata'),
      ('detent_api', 'select, insert, update', 'tenant pool schedule timer'),
      ('detent_api', 'select, insert, update (valid_to)', 'revision'),
      ('detent_api', 'select, insert', 'firing attempt omission tally'),
      ('detent_api', 'select, insert, update, delete', 'waiting'),
      ('detent_api', 'select, update, delete', 'running'),
      ('detent_api', 'select, update (number), delete', 'dead'), -- who may lock a row may update a column
      ('detent_api', 'select, insert, update, delete', 'secret'),
      -- Promises, and the commands that follow from them: pauses that end, zone rules that change, nodes that die.
      ('detent_planner', 'select', 'migration tenant'),
      ('detent_planner', 'select, insert, update', 'pool schedule timer tzdata'),
      ('detent_planner', 'select, insert', 'zone_rules'),
      ('detent_planner', 'select, update', 'shard catch_up'),
      ('detent_planner', 'select, insert, update (valid_to)', 'revision'),
      ('detent_planner', 'select, insert', 'firing attempt omission tally dead stale_result'),
      ('detent_planner', 'select, insert, update, delete', 'node waiting running progress pause_wish'),
      -- Executions. A worker sees of a schedule what it runs, and of its history nothing but its own facts.
      ('detent_worker', 'select', 'migration tenant timer firing secret'),
      ('detent_worker', 'select (id, tenant_id, name, revision, status, overlap, work)', 'schedule'),
      ('detent_worker', 'select (schedule_id, number, valid_from)', 'revision'), -- which one held, never what it said
      ('detent_worker', 'select, insert, update', 'pool'),
      ('detent_worker', 'select (id, holder), update (holder)', 'shard'), -- gives back, and can't take: see the epoch
      ('detent_worker', 'select, insert', 'attempt tally dead stale_result'),
      ('detent_worker', 'select, insert, update', 'pause_wish'),
      ('detent_worker', 'select, insert, update, delete', 'node waiting running progress')
    ) r(role, rights, tables)
    cross join lateral unnest(string_to_array(r.tables, ' ')) target
    where exists (select from pg_roles where rolname = r.role)
  loop
    execute format('grant %s on detent.%I to %I', one.rights, one.target, one.role);
  end loop;

  for one in
    select r.role, r.what
    from (values
      ('detent_planner', 'usage on sequence detent.volley'),
      ('detent_worker', 'usage on sequence detent.volley'),
      ('detent_api', 'execute on function detent.ensure_partitions(date, date)'),
      ('detent_planner', 'execute on function detent.ensure_partitions(date, date)')
    ) r(role, what)
    where exists (select from pg_roles where rolname = r.role)
  loop
    execute format('grant %s to %I', one.what, one.role);
  end loop;
end $$;
