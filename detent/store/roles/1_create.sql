-- The roles that Detent's processes log in as. They can't log in before somebody gives them a password or a certificate:
--   alter role detent_worker login password '…';
-- Without the right to create roles this says so, and Detent works as the one user that migrates.
do $$
declare
  wanted text;
  missing text[] := '{}';
begin
  foreach wanted in array array['detent_api', 'detent_planner', 'detent_worker', 'detent_migrations'] loop
    if not exists (select from pg_roles where rolname = wanted) then
      begin
        execute format('create role %I nologin', wanted);
        if wanted = 'detent_migrations' and not pg_has_role(current_user, wanted, 'member') then
          execute format('grant %I to %I', wanted, current_user);
        end if;
      exception
        when duplicate_object or unique_violation then null; -- somebody else was faster, in another database
        when insufficient_privilege then missing := missing || wanted;
      end;
    end if;
  end loop;
  if missing <> '{}' then
    raise notice '% may not create the roles %: Detent works as one user', current_user, array_to_string(missing, ', ')
      using hint = 'To give each process its own rights, let a superuser run: '
                   || (select string_agg(format('create role %I nologin;', m), ' ') from unnest(missing) m)
                   || ' and run `detent migrate` again.';
  end if;
end $$;
