-- The end of attempts: who deletes (or puts to rest) the running row owns the decision, and only then writes the fact.
--
-- Each row is taken only under the volley that the caller was given; what does not come back was taken from the caller
-- meanwhile, and the caller looks into it: its own commit whose answer was lost, or a stale result.
-- 1. Final outcomes: the seat is free, the attempt is the firing's last word.
-- 2. Retries: the running row rests with its seat and no node, the firing waits again.
-- 3. Dead firings: the seat is free, a person is needed.
-- 4. Queued firings of freed seats are woken, in a later statement than the deletes: parking locks the running row that
--    it saw, so one of the two sees the other.
create or replace function detent.conclude_v1(
  in_node bigint, c_id bigint[], c_seat bigint[], c_for timestamptz[], c_volley bigint[],
  c_started timestamptz[], c_finished timestamptz[], c_outcome text[], c_code text[], c_error text[], c_excerpt text[],
  c_then text[], c_due timestamptz[], in_wake bigint[]
) returns table (schedule_id bigint, scheduled_for timestamptz) language plpgsql
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
  return query
  with done as (
    select * from unnest(c_id, c_seat, c_for, c_volley, c_started, c_finished, c_outcome, c_code, c_error, c_excerpt, c_then)
      d(id, seat, scheduled_for, volley, started_at, finished_at, outcome, code, error, excerpt, "then")
  ), gone as (
    delete from detent.running r using done d
    where r.schedule_id = d.id and r.seat = d.seat and r.scheduled_for = d.scheduled_for and r.volley = d.volley
      and r.node = in_node and d.then <> 'again'
    returning r.schedule_id, r.scheduled_for, r.number, r.volley, r.revision, r.lane,
              d.started_at, d.finished_at, d.outcome, d.code, d.error, d.excerpt, d."then"
  ), fact as (
    insert into detent.attempt (schedule_id, scheduled_for, number, outcome, final, started_at, finished_at,
                                volley, node, revision, tenant_id, code, error, excerpt)
    select g.schedule_id, g.scheduled_for, g.number, g.outcome, g.then = 'conclude', g.started_at, g.finished_at,
           g.volley, in_node, g.revision, g.lane / 10, g.code, g.error, g.excerpt
    from gone g
    returning attempt.schedule_id, attempt.scheduled_for, attempt.tenant_id, attempt.outcome
  ), counted as (
    insert into detent.tally (minute, tenant_id, outcome, n)
    select date_trunc('minute', detent.now()), f.tenant_id, f.outcome, count(*) from fact f group by 2, 3
  ), died as (
    insert into detent.dead (schedule_id, scheduled_for, number, tenant_id, outcome, error)
    select g.schedule_id, g.scheduled_for, g.number, g.lane / 10, g.outcome, g.error from gone g where g.then = 'die'
  )
  select f.schedule_id, f.scheduled_for from fact f;

  if 'again' = any (c_then) then
    return query
    with done as (
      select * from unnest(c_id, c_seat, c_for, c_volley, c_started, c_finished, c_outcome, c_code, c_error, c_excerpt,
                           c_then, c_due)
        d(id, seat, scheduled_for, volley, started_at, finished_at, outcome, code, error, excerpt, "then", due_at)
    ), resting as (
      update detent.running r set node = null, volley = null, cancel = null from done d
      where r.schedule_id = d.id and r.seat = d.seat and r.scheduled_for = d.scheduled_for and r.volley = d.volley
        and r.node = in_node and d.then = 'again'
      returning r.schedule_id, r.scheduled_for, r.seat, r.number, d.volley, r.revision, r.lane, r.pool,
                d.started_at, d.finished_at, d.outcome, d.code, d.error, d.excerpt, d.due_at
    ), fact as (
      insert into detent.attempt (schedule_id, scheduled_for, number, outcome, final, started_at, finished_at,
                                  volley, node, revision, tenant_id, code, error, excerpt)
      select g.schedule_id, g.scheduled_for, g.number, g.outcome, false, g.started_at, g.finished_at,
             g.volley, in_node, g.revision, g.lane / 10, g.code, g.error, g.excerpt
      from resting g
      returning attempt.schedule_id, attempt.scheduled_for, attempt.tenant_id, attempt.outcome
    ), counted as (
      insert into detent.tally (minute, tenant_id, outcome, n)
      select date_trunc('minute', detent.now()), f.tenant_id, f.outcome, count(*) from fact f group by 2, 3
    ), put as (
      insert into detent.waiting (schedule_id, scheduled_for, number, pool, lane, due_at, seats, seat, needs)
      select g.schedule_id, g.scheduled_for, g.number + 1, g.pool, g.lane, g.due_at, coalesce(t.seats, 1), g.seat,
             coalesce(t.needs, 1)
      from resting g left join detent.timer t on t.schedule_id = g.schedule_id
    )
    select f.schedule_id, f.scheduled_for from fact f;
  end if;

  if cardinality(in_wake) > 0 then
    perform detent.wake_v1(in_wake);
  end if;
end $$;
