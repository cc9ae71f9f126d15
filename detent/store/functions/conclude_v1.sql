-- The end of attempts: who deletes (or puts to rest) the running row owns the decision, and only then writes the fact.
--
-- Each row is taken only under the volley that the caller was given. The answer is how many were: fewer than were brought
-- means that some were taken from the caller meanwhile, and it looks into it (its own commit whose answer was lost, or a
-- stale result).
-- 1. Final outcomes: the seat is free, the attempt is the firing's last word.
-- 2. Dead firings: the seat is free, a person is needed.
-- 3. Retries: the running row rests with its seat and no node, the firing waits again. FOR SHARE on the schedule: a pause
--    that commits before us is seen and holds the firing, one that comes later waits for us and sees what we put. A wish
--    to cancel that came too late for this attempt holds it, too: whoever was told to end isn't tried again.
-- 4. Queued firings of freed seats are woken, in a later statement than the deletes: parking locks the running row that
--    it saw, so one of the two sees the other.
create or replace function detent.conclude_v1(
  in_node bigint, c_id bigint[], c_seat bigint[], c_volley bigint[], c_revision int[],
  c_started float8[], c_finished float8[], c_outcome text[], c_code text[], c_error text[], c_excerpt text[],
  c_verdict text[], c_due timestamptz[], in_wake bigint[]
) returns bigint language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  this_minute timestamptz := date_trunc('minute', detent.now());
  concluded bigint;
  again bigint := 0;
begin
  with gone as (
    delete from detent.running r
    using unnest(c_id, c_seat, c_volley, c_revision, c_started, c_finished, c_outcome, c_code, c_error, c_excerpt, c_verdict)
      d(id, seat, volley, revision, started_at, finished_at, outcome, code, error, excerpt, verdict)
    where r.schedule_id = d.id and r.seat = d.seat and r.volley = d.volley and d.verdict <> 'again'
    returning r.schedule_id, r.scheduled_for, r.number, r.volley, r.node, r.lane,
              d.revision, d.started_at, d.finished_at, d.outcome, d.code, d.error, d.excerpt, d.verdict
  ), fact as (
    insert into detent.attempt (schedule_id, scheduled_for, number, outcome, final, started_at, finished_at,
                                volley, node, revision, tenant_id, code, error, excerpt)
    select g.schedule_id, g.scheduled_for, g.number, g.outcome, g.verdict = 'conclude', to_timestamp(g.started_at), to_timestamp(g.finished_at),
           g.volley, g.node, g.revision, g.lane / 10, g.code, g.error, g.excerpt
    from gone g
  ), counted as (
    insert into detent.tally (minute, tenant_id, outcome, n)
    select this_minute, g.lane / 10, g.outcome, count(*) from gone g group by 2, 3
  ), died as (
    insert into detent.dead (schedule_id, scheduled_for, number, tenant_id, outcome, error)
    select g.schedule_id, g.scheduled_for, g.number, g.lane / 10, g.outcome, g.error from gone g where g.verdict = 'die'
  )
  select count(*) into concluded from gone;

  if 'again' = any (c_verdict) then
    with resting as (
      update detent.running r set node = null, volley = null
      from unnest(c_id, c_seat, c_volley, c_revision, c_started, c_finished, c_outcome, c_code, c_error, c_excerpt,
                  c_verdict, c_due)
        d(id, seat, volley, revision, started_at, finished_at, outcome, code, error, excerpt, verdict, due_at)
      where r.schedule_id = d.id and r.seat = d.seat and r.volley = d.volley and d.verdict = 'again'
      returning r.schedule_id, r.scheduled_for, r.seat, r.number, r.lane, r.cancel,
                d.volley, d.revision, d.started_at, d.finished_at, d.outcome, d.code, d.error, d.excerpt, d.due_at
    ), fact as (
      insert into detent.attempt (schedule_id, scheduled_for, number, outcome, final, started_at, finished_at,
                                  volley, node, revision, tenant_id, code, error, excerpt)
      select g.schedule_id, g.scheduled_for, g.number, g.outcome, false, to_timestamp(g.started_at), to_timestamp(g.finished_at),
             g.volley, in_node, g.revision, g.lane / 10, g.code, g.error, g.excerpt
      from resting g
    ), counted as (
      insert into detent.tally (minute, tenant_id, outcome, n)
      select this_minute, g.lane / 10, g.outcome, count(*) from resting g group by 2, 3
    ), put as (
      insert into detent.waiting (schedule_id, scheduled_for, number, pool, lane, due_at, held, kind, slot_at, seats, seat,
                                  needs)
      select g.schedule_id, g.scheduled_for, g.number + 1, p.pool, p.lane,
             case when g.cancel is null then greatest(g.due_at, detent.now()) else detent.now() end,
             case when g.cancel is null then p.held else 'cancelled' end,
             nullif(f.kind, 'slot'), f.slot_at, p.seats, g.seat, p.needs
      from resting g
      join detent.firing f on f.schedule_id = g.schedule_id and f.scheduled_for = g.scheduled_for cross join lateral detent.place_v1(g.schedule_id) p
    )
    select count(*) into again from resting;
  end if;

  if cardinality(in_wake) > 0 then
    perform detent.wake_v1(in_wake);
  end if;
  return concluded + again;
end $$;
