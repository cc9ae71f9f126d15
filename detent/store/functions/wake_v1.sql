-- The oldest queued firings of each schedule become claimable, as many as seats are free.
create or replace function detent.wake_v1(in_schedules bigint[]) returns bigint language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  woken bigint;
begin
  with oldest as (
    select q.schedule_id, q.scheduled_for
    from (select distinct unnest(in_schedules) as id) s
    cross join lateral (
      select o.schedule_id, o.scheduled_for from detent.waiting o
      where o.schedule_id = s.id and o.held = 'queued'
      order by o.due_at, o.scheduled_for
      limit greatest(0, (select max(w.seats) from detent.waiting w where w.schedule_id = s.id and w.held = 'queued')
                        - (select count(*) from detent.running r where r.schedule_id = s.id))
    ) q
  )
  update detent.waiting w set held = null, due_at = greatest(w.due_at, detent.now()) from oldest o
  where w.schedule_id = o.schedule_id and w.scheduled_for = o.scheduled_for and w.held = 'queued';
  get diagnostics woken = row_count;
  return woken;
end $$;
