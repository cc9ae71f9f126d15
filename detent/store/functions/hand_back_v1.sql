-- Running firings of a node that never started there go back to waiting, as they were: a lost claim answer, a stop.
-- `number` rises with each claim, so tokens stay unique; no attempt is recorded, for nothing was attempted.
create or replace function detent.hand_back_v1(in_node bigint, b_id bigint[], b_seat bigint[], b_volley bigint[])
returns bigint language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  handed bigint;
begin
  with gone as (
    delete from detent.running r using unnest(b_id, b_seat, b_volley) b(id, seat, volley)
    where r.schedule_id = b.id and r.seat = b.seat and r.volley = b.volley and r.node = in_node
    returning r.schedule_id, r.scheduled_for, r.number, r.pool, r.lane
  ), put as (
    insert into detent.waiting (schedule_id, scheduled_for, number, pool, lane, due_at, seats, needs)
    select g.schedule_id, g.scheduled_for, g.number + 1, g.pool, g.lane, f.due_at, coalesce(t.seats, 1), coalesce(t.needs, 1)
    from gone g
    join detent.firing f on f.schedule_id = g.schedule_id and f.scheduled_for = g.scheduled_for
    left join detent.timer t on t.schedule_id = g.schedule_id
    returning 1
  )
  select count(*) into handed from put;
  return handed;
end $$;
