-- Where a firing that comes back waits: as its schedule says now, and withheld if that was paused or deleted meanwhile.
-- FOR SHARE makes this exact: a command that commits first is seen here, one that comes later waits for us and sees the
-- waiting row that we put. As the owner of the tables, for a worker may lock no schedule by rights of its own.
--
-- Two statements, for the lock may wait for an edit, and a row that is joined to a locked one comes from the snapshot
-- before the wait: only the second statement sees what the edit wrote.
create or replace function detent.place_v1(in_schedule bigint)
returns table (pool text, lane bigint, held text, seats int, needs int, start_deadline interval)
language plpgsql rows 1 security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  perform from detent.schedule s where s.id = in_schedule for share;
  return query
  select t.pool, t.tenant_id * 10 + t.priority, case when s.status in ('paused', 'deleted') then s.status end,
         t.seats, t.needs, t.start_deadline
  from detent.schedule s join detent.timer t on t.schedule_id = s.id
  where s.id = in_schedule;
end $$;
