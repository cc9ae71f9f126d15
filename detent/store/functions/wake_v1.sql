-- The oldest queued firings of each schedule become claimable, as many as seats are free.
--
-- 1. Seats that are free, less those that older firings will take: woken before, or handed back.
-- 2. What somebody else has locked is passed over: whoever woke it took another seat, whoever withdraws it takes none. So
--    this waits for nobody, in whatever order conclusions come.
-- 3. Claims look from the present on, so what is woken is due now; but not after a younger firing that was not parked yet.
create or replace function detent.wake_v1(in_schedules bigint[]) returns bigint language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  woken bigint;
begin
  with oldest as materialized (
    select q.schedule_id, q.scheduled_for, younger.due_at as before
    from (select distinct unnest(in_schedules) as id) s
    cross join lateral (
      select w.scheduled_for, w.seats from detent.waiting w
      where w.schedule_id = s.id and w.held = 'queued' order by w.scheduled_for limit 1
    ) first
    cross join lateral (
      select min(y.due_at) as due_at from detent.waiting y
      where y.schedule_id = s.id and y.held is null and y.seat is null and y.scheduled_for > first.scheduled_for
    ) younger
    cross join lateral (
      select o.schedule_id, o.scheduled_for from detent.waiting o
      where o.schedule_id = s.id and o.held = 'queued'
      order by o.scheduled_for
      limit case when first.seats > 0 then greatest(0, first.seats
        - (select count(*) from detent.running r where r.schedule_id = s.id)
        - (select count(*) from detent.waiting w where w.schedule_id = s.id and w.held is null and w.seat is null
           and w.due_at <= detent.now() and w.scheduled_for < first.scheduled_for)) end
      for update skip locked
    ) q
  )
  update detent.waiting w
  set held = null, due_at = greatest(w.due_at, least(detent.now(), o.before - interval '1 microsecond'))
  from oldest o
  where w.schedule_id = o.schedule_id and w.scheduled_for = o.scheduled_for and w.held = 'queued';
  get diagnostics woken = row_count;
  return woken;
end $$;
