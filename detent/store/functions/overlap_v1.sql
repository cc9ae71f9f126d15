-- What becomes of due firings whose schedule has no free seat: the overlap policy of the schedule decides.
--
-- Found from the side of `running`, which is small. Only at or after due_at: before it, an occupied seat means "leave it".
-- Parking locks the running rows that it saw FOR SHARE: whoever concludes one of them waits for us and then wakes what
-- we parked, or was first, and then we see no row and park nothing.
create or replace function detent.overlap_v1(in_limit int)
returns table (schedule_id bigint, scheduled_for timestamptz, what text) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  full_ones bigint[];
begin
  select array_agg(f.schedule_id) into full_ones from (
    select r.schedule_id from detent.running r
    where exists (select from detent.waiting w where w.schedule_id = r.schedule_id and w.held is null
                  and w.seat is null and w.seats >= 1 and w.due_at <= detent.now())
    group by r.schedule_id limit in_limit
  ) f;
  if full_ones is null then
    return;
  end if;

  -- Older ones give way to the newest due one of a schedule that collapses.
  return query
  with doomed as (
    select w.schedule_id, w.scheduled_for, s.overlap
    from detent.waiting w join detent.schedule s on s.id = w.schedule_id
    where w.schedule_id = any (full_ones) and (w.held is null or w.held = 'queued') and w.seat is null
      and w.due_at <= detent.now()
      and (select count(*) from detent.running r where r.schedule_id = w.schedule_id) >= w.seats
      and (s.overlap = 'skip' or s.overlap = 'collapse' and exists (
             select from detent.waiting newer where newer.schedule_id = w.schedule_id and newer.seat is null
             and (newer.held is null or newer.held = 'queued') and newer.due_at <= detent.now()
             and (newer.due_at, newer.scheduled_for) > (w.due_at, w.scheduled_for)))
    order by w.schedule_id, w.scheduled_for
    for update of w skip locked
  ), gone as (
    delete from detent.waiting w using doomed d
    where w.schedule_id = d.schedule_id and w.scheduled_for = d.scheduled_for
    returning w.schedule_id, w.scheduled_for, w.lane, case d.overlap when 'skip' then 'skipped' else 'collapsed' end as what
  ), fact as (
    insert into detent.attempt (schedule_id, scheduled_for, number, outcome, final, finished_at, tenant_id, code)
    select g.schedule_id, g.scheduled_for, 0, g.what, true, detent.now(), g.lane / 10, 'overlap' from gone g
    returning attempt.tenant_id, attempt.outcome
  ), counted as (
    insert into detent.tally (minute, tenant_id, outcome, n)
    select date_trunc('minute', detent.now()), f.tenant_id, f.outcome, count(*) from fact f group by 2, 3
  )
  select g.schedule_id, g.scheduled_for, g.what from gone g;

  -- The rest waits for a seat.
  return query
  with seen as materialized (
    select r.schedule_id, r.seat from detent.running r
    where r.schedule_id = any (full_ones) order by r.schedule_id, r.seat
    for share
  ), parked as (
    update detent.waiting w set held = 'queued'
    from detent.schedule s
    where s.id = w.schedule_id and w.schedule_id = any (full_ones) and w.held is null and w.seat is null
      and w.due_at <= detent.now() and s.overlap <> 'skip'
      and (select count(*) from seen where seen.schedule_id = w.schedule_id) >= w.seats
    returning w.schedule_id, w.scheduled_for
  )
  select p.schedule_id, p.scheduled_for, 'queued' from parked p;

  -- Whoever runs gives way to what waits now. A firing that rests between two attempts gives way at once.
  update detent.running r set cancel = 'overlap'
  from detent.schedule s
  where s.id = r.schedule_id and s.overlap = 'cancel_previous' and r.schedule_id = any (full_ones)
    and r.node is not null and r.cancel is null
    and exists (select from detent.waiting w where w.schedule_id = r.schedule_id and w.held = 'queued');

  return query
  with resting as (
    delete from detent.running r using detent.schedule s
    where s.id = r.schedule_id and s.overlap = 'cancel_previous' and r.schedule_id = any (full_ones) and r.node is null
      and exists (select from detent.waiting w where w.schedule_id = r.schedule_id and w.held = 'queued')
    returning r.schedule_id, r.scheduled_for, r.lane
  ), gone as (
    delete from detent.waiting w using resting r
    where w.schedule_id = r.schedule_id and w.scheduled_for = r.scheduled_for
    returning w.schedule_id, w.scheduled_for, w.lane
  ), fact as (
    insert into detent.attempt (schedule_id, scheduled_for, number, outcome, final, finished_at, tenant_id, code)
    select g.schedule_id, g.scheduled_for, 0, 'cancelled', true, detent.now(), g.lane / 10, 'overlap' from gone g
  )
  select g.schedule_id, g.scheduled_for, 'cancelled' from gone g;
  perform detent.wake_v1(full_ones);
end $$;
