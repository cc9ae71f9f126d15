-- Running firings that could not begin, for their target has no room or asks for patience, wait again: for the instant that
-- is given, in the seat that they have, as between any two attempts. A firing with a seat keeps its place in the order of
-- its schedule: without it the next slot might overtake.
--
-- `number` rises with each claim, so attempts stay distinct; no attempt is recorded, for nothing was attempted. Whoever was
-- never attempted keeps its start deadline. Locks: the running rows, then what place_v1 locks.
create or replace function detent.defer_v1(b_id bigint[], b_seat bigint[], b_volley bigint[], b_due timestamptz[])
returns bigint language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  deferred bigint;
begin
  with resting as (
    update detent.running r set node = null, volley = null
    from unnest(b_id, b_seat, b_volley, b_due) b(id, seat, volley, due_at)
    where r.schedule_id = b.id and r.seat = b.seat and r.volley = b.volley
    returning r.schedule_id, r.scheduled_for, r.seat, r.number, r.cancel, b.due_at
  ), put as (
    insert into detent.waiting (schedule_id, scheduled_for, number, pool, lane, due_at, expires_at, held, kind, slot_at, seats,
                                seat, needs)
    select m.schedule_id, m.scheduled_for, m.number + 1, p.pool, p.lane,
           case when m.cancel is null then greatest(m.due_at, detent.now()) else detent.now() end,
           case when not exists (select from detent.attempt a where a.schedule_id = m.schedule_id
                                 and a.scheduled_for = m.scheduled_for) then f.due_at + p.start_deadline end,
           case when m.cancel is null then p.held else 'cancelled' end, nullif(f.kind, 'slot'), f.slot_at, p.seats, m.seat,
           p.needs
    from resting m
    join detent.firing f on f.schedule_id = m.schedule_id and f.scheduled_for = m.scheduled_for
    cross join lateral detent.place_v1(m.schedule_id) p
    returning 1
  )
  select count(*) into deferred from put;
  return deferred;
end $$;
