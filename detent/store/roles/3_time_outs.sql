-- The time-outs of a session, for processes behind a pooler, where a session's own settings are lost: all of them below
-- the time to live of a lease, so that nobody who stops inside a transaction holds up a take-over. Runs as the user who
-- migrates.
do $$
declare
  one record;
begin
  for one in
    select r.rolname as role, s.name, s.value
    from pg_roles r
    cross join (values
      ('statement_timeout', '7s'),
      ('lock_timeout', '3s'),
      ('idle_in_transaction_session_timeout', '4s'),
      ('jit', 'off'),
      ('timezone', 'UTC')
    ) s(name, value)
    where r.rolname in ('detent_api', 'detent_planner', 'detent_worker')
  loop
    execute format('alter role %I in database %I set %s = %L', one.role, current_database(), one.name, one.value);
  end loop;
exception
  when insufficient_privilege then
    raise notice '% may not set the time-outs of the roles: behind a pooler, sessions have none', current_user
      using hint = 'Let the user who created the roles run `detent migrate`.';
end $$;
