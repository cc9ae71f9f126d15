-- What becomes of due firings whose schedule has no free seat: the overlap policy of the schedule decides.
--
-- Found from the side of `running`, which is small. Only at or after due_at: before it, an occupied seat means "leave it".
-- 1. The running rows are locked before anything is decided. Whoever concludes one of them waits for us and then wakes
--    what we parked; or was first, and then we don't get its row and its seat counts as free.
-- 2. The decisions, each in a statement that sees what was committed before our locks were granted.
-- This waits for nobody: rows that others have locked, running or waiting, are left to the next look. So whatever order
-- claims, conclusions and commands take their locks in, no circle goes through here; and two looks share the work.
create or replace function detent.overlap_v1(in_limit int)
returns table (schedule_id bigint, scheduled_for timestamptz, what text) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  crowded bigint[];
  full_ones bigint[];
  seen_ids bigint[];
  seen_seats bigint[];
begin
  select array_agg(c.schedule_id) into crowded from (
    select n.schedule_id
    from (select r.schedule_id, count(*) as taken from detent.running r group by r.schedule_id) n
    where (select 1 from detent.waiting w where w.schedule_id = n.schedule_id and w.held is null and w.seat is null
           and w.seats between 1 and n.taken and w.due_at <= detent.now() limit 1) is not null
    limit in_limit
  ) c;
  if crowded is null then
    return;
  end if;

  with seen as materialized (
    select r.schedule_id, r.seat from detent.running r
    where r.schedule_id = any (crowded) order by r.schedule_id, r.seat
    for no key update skip locked
  ), held as (
    select s.schedule_id, count(*) as taken from seen s group by s.schedule_id
  )
  select array_agg(s.schedule_id), array_agg(s.seat), array_agg(distinct s.schedule_id)
  into seen_ids, seen_seats, full_ones
  from seen s join held h on h.schedule_id = s.schedule_id
  where h.taken >= (select t.seats from detent.timer t where t.schedule_id = s.schedule_id);
  if full_ones is null then
    return;
  end if;

  -- Older ones give way to the newest due one of a schedule that collapses, or cancels what came before.
  return query
  with doomed as (
    select w.place, s.overlap
    from detent.schedule s
    cross join lateral (select count(*) as taken from detent.running r where r.schedule_id = s.id) r
    left join lateral (
      select w.due_at, w.scheduled_for from detent.waiting w
      where w.schedule_id = s.id and (w.held is null or w.held = 'queued') and w.seat is null and w.due_at <= detent.now()
      order by w.due_at desc, w.scheduled_for desc limit 1
    ) newest on s.overlap <> 'skip'
    cross join lateral (
      select w.ctid as place from detent.waiting w
      where w.schedule_id = s.id and (w.held is null or w.held = 'queued') and w.seat is null and w.due_at <= detent.now()
        and w.seats between 1 and r.taken
        and (s.overlap = 'skip' or (w.due_at, w.scheduled_for) < (newest.due_at, newest.scheduled_for))
      for update of w skip locked
    ) w
    where s.id = any (full_ones) and s.overlap in ('skip', 'collapse', 'cancel_previous')
  ), gone as (
    delete from detent.waiting w using doomed d where w.ctid = d.place
    returning w.schedule_id, w.scheduled_for, w.lane,
              case d.overlap when 'skip' then 'skipped' when 'collapse' then 'collapsed' else 'cancelled' end as what
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
  with idle as (
    select w.place
    from detent.schedule s
    cross join lateral (select count(*) as taken from detent.running r where r.schedule_id = s.id) r
    cross join lateral (
      select w.ctid as place from detent.waiting w
      where w.schedule_id = s.id and w.held is null and w.seat is null and w.due_at <= detent.now()
        and w.seats between 1 and r.taken
      for update of w skip locked
    ) w
    where s.id = any (full_ones) and s.overlap <> 'skip'
  )
  update detent.waiting w set held = 'queued' from idle i where w.ctid = i.place
  returning w.schedule_id, w.scheduled_for, 'queued';

  -- Whoever runs gives way to what waits now.
  update detent.running r set cancel = 'overlap'
  from unnest(seen_ids, seen_seats) seen(id, seat) join detent.schedule s on s.id = seen.id
  where r.schedule_id = seen.id and r.seat = seen.seat and s.overlap = 'cancel_previous'
    and r.node is not null and r.cancel is null
    and exists (select from detent.waiting w where w.schedule_id = r.schedule_id and w.held = 'queued');

  -- A firing that rests between two attempts gives way at once, unless its next one is being claimed.
  return query
  with resting as (
    select w.schedule_id, w.scheduled_for, w.lane, r.seat
    from unnest(seen_ids, seen_seats) seen(id, seat)
    join detent.schedule s on s.id = seen.id
    join detent.running r on r.schedule_id = seen.id and r.seat = seen.seat
    join detent.waiting w on w.schedule_id = r.schedule_id and w.scheduled_for = r.scheduled_for and w.seat = r.seat
    where s.overlap = 'cancel_previous' and r.node is null
      and exists (select from detent.waiting q where q.schedule_id = r.schedule_id and q.held = 'queued')
    for update of w skip locked
  ), gone as (
    delete from detent.waiting w using resting r
    where w.schedule_id = r.schedule_id and w.scheduled_for = r.scheduled_for
    returning w.schedule_id, w.scheduled_for, w.lane, r.seat
  ), freed as (
    delete from detent.running r using gone g where r.schedule_id = g.schedule_id and r.seat = g.seat
  ), fact as (
    insert into detent.attempt (schedule_id, scheduled_for, number, outcome, final, finished_at, tenant_id, code)
    select g.schedule_id, g.scheduled_for, 0, 'cancelled', true, detent.now(), g.lane / 10, 'overlap' from gone g
    returning attempt.tenant_id, attempt.outcome
  ), counted as (
    insert into detent.tally (minute, tenant_id, outcome, n)
    select date_trunc('minute', detent.now()), f.tenant_id, f.outcome, count(*) from fact f group by 2, 3
  )
  select g.schedule_id, g.scheduled_for, 'cancelled' from gone g;
  perform detent.wake_v1(full_ones);
end $$;
