-- A person's wish that a firing should not be, or not go on. Says what came of it: `ended`, `asked`, or where it is instead:
-- `dead`, `over`, `moving`; null if there is none.
--
-- A waiting firing ends here and now; who deletes its row owns the decision. A running one is asked to: its worker watches
-- for the wish. Between two looks it may have been claimed, or have come back to wait for its next attempt: then we look
-- again. A retry gives back the seat that rests for it, and whoever is queued is woken, in a later statement.
create or replace function detent.cancel_v1(in_schedule bigint, in_for timestamptz, in_words text) returns text
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  for _ in 1 .. 5 loop
    with gone as (
      delete from detent.waiting w where w.schedule_id = in_schedule and w.scheduled_for = in_for
      returning w.lane, w.seat
    ), freed as (
      delete from detent.running r using gone g
      where r.schedule_id = in_schedule and r.seat = g.seat and r.scheduled_for = in_for and r.node is null
    ), counted as (
      insert into detent.tally (minute, tenant_id, outcome, n)
      select date_trunc('minute', detent.now()), g.lane / 10, 'cancelled', 1 from gone g
    )
    insert into detent.attempt (schedule_id, scheduled_for, number, outcome, final, finished_at, tenant_id, code, error)
    select in_schedule, in_for, 0, 'cancelled', true, detent.now(), g.lane / 10, 'asked', in_words from gone g;
    if found then
      perform detent.wake_v1(array[in_schedule]);
      return 'ended';
    end if;

    update detent.running r set cancel = 'asked: ' || in_words
    where r.schedule_id = in_schedule and r.scheduled_for = in_for and r.node is not null;
    if found then
      return 'asked';
    end if;

    if exists (select from detent.dead d where d.schedule_id = in_schedule and d.scheduled_for = in_for) then
      return 'dead';
    end if;
    if exists (select from detent.attempt a where a.schedule_id = in_schedule and a.scheduled_for = in_for and a.final) then
      return 'over';
    end if;
    if not exists (select from detent.firing f where f.schedule_id = in_schedule and f.scheduled_for = in_for) then
      return null;
    end if;
  end loop;
  return 'moving';
end $$;
