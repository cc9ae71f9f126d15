-- The end of attempts that succeeded: what conclude_v1 does for them, in fewer words, for nearly all attempts succeed.
-- Its laws hold here: who deletes the running row, under the volley that was given to him, writes the fact; the answer is
-- how many did; the queued firings of freed seats are woken in a later statement than the deletes.
create or replace function detent.succeed_v1(
  s_id bigint[], s_seat bigint[], s_volley bigint[], s_revision int[], s_started float8[], s_finished float8[],
  s_excerpt text[], in_wake bigint[]
) returns bigint language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  concluded bigint;
begin
  with gone as (
    delete from detent.running r
    using unnest(s_id, s_seat, s_volley, s_revision, s_started, s_finished, s_excerpt)
      d(id, seat, volley, revision, started_at, finished_at, excerpt)
    where r.schedule_id = d.id and r.seat = d.seat and r.volley = d.volley
    returning r.schedule_id, r.scheduled_for, r.number, r.volley, r.node, r.lane,
              d.revision, d.started_at, d.finished_at, d.excerpt
  ), fact as (
    insert into detent.attempt (schedule_id, scheduled_for, number, outcome, final, started_at, finished_at,
                                volley, node, revision, tenant_id, excerpt)
    select g.schedule_id, g.scheduled_for, g.number, 'succeeded', true, to_timestamp(g.started_at),
           to_timestamp(g.finished_at), g.volley, g.node, g.revision, g.lane / 10, g.excerpt
    from gone g
  ), counted as (
    insert into detent.tally (minute, tenant_id, outcome, n)
    select date_trunc('minute', detent.now()), g.lane / 10, 'succeeded', count(*) from gone g group by 2
  )
  select count(*) into concluded from gone;

  if cardinality(in_wake) > 0 then
    perform detent.wake_v1(in_wake);
  end if;
  return concluded;
end $$;
