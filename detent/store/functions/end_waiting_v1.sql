-- Waiting firings that end without running: their start deadline has passed, or what held them back outlasted their due
-- instant: a pause, an edit, a deletion, or the wish that an attempt should end, which outlives the attempt. Who deletes the waiting row owns the decision; a claim that was first leaves nothing to delete.
-- A retry gives back the seat that rests for it; that seat, or the turn of one that was to run next, is for whoever is
-- queued. They are woken in a later statement, which sees what was parked before we got the resting row.
create or replace function detent.end_waiting_v1(in_limit int)
returns table (schedule_id bigint, scheduled_for timestamptz, outcome text, code text) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  as_of timestamptz := detent.now();
  ids bigint[];
  slots timestamptz[];
  outcomes text[];
  codes text[];
  waited_for bigint[];
begin
  with expired as (
    select w.schedule_id, w.scheduled_for, 'missed' as outcome, 'start_deadline' as code
    from detent.waiting w where w.expires_at <= as_of
    order by w.expires_at limit in_limit for update skip locked
  ), withheld as (
    select w.schedule_id, w.scheduled_for, case w.held when 'cancelled' then 'cancelled' else 'withdrawn' end, w.held
    from detent.waiting w where w.held is not null and w.held <> 'queued' and w.due_at <= as_of
      and (w.expires_at is null or w.expires_at > as_of)
    order by w.due_at limit in_limit for update skip locked
  ), ending as (
    select * from expired union all select * from withheld
  ), gone as (
    delete from detent.waiting w using ending e
    where w.schedule_id = e.schedule_id and w.scheduled_for = e.scheduled_for
    returning w.schedule_id, w.scheduled_for, w.lane, w.seat, w.held, e.outcome, e.code
  ), freed as (
    delete from detent.running r using gone g
    where r.schedule_id = g.schedule_id and r.seat = g.seat and r.scheduled_for = g.scheduled_for and r.node is null
    returning r.schedule_id, r.scheduled_for, r.cancel
  ), fact as (
    insert into detent.attempt (schedule_id, scheduled_for, number, outcome, final, finished_at, tenant_id, code, error)
    select g.schedule_id, g.scheduled_for, 0, g.outcome, true, as_of, g.lane / 10, g.code, f.cancel
    from gone g left join freed f on f.schedule_id = g.schedule_id and f.scheduled_for = g.scheduled_for
    returning attempt.tenant_id, attempt.outcome
  ), counted as (
    insert into detent.tally (minute, tenant_id, outcome, n)
    select date_trunc('minute', as_of), f.tenant_id, f.outcome, count(*) from fact f group by 2, 3
  )
  select array_agg(g.schedule_id), array_agg(g.scheduled_for), array_agg(g.outcome), array_agg(g.code),
         array_agg(g.schedule_id) filter (where g.seat is not null or g.held is null)
  into ids, slots, outcomes, codes, waited_for
  from gone g;

  if waited_for is not null then
    perform detent.wake_v1(waited_for);
  end if;
  return query select * from unnest(ids, slots, outcomes, codes);
end $$;
