-- Running firings of a node that never started there go back to waiting, as they were: a lost claim answer, a stop.
-- `number` rises with each claim, so attempts stay distinct; no attempt is recorded, for nothing was attempted.
-- A firing that was attempted before keeps its seat, as between any two attempts; a fresh one frees it.
create or replace function detent.hand_back_v1(b_id bigint[], b_seat bigint[], b_volley bigint[])
returns bigint language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  handed bigint;
begin
  with mine as materialized (
    select r.schedule_id, r.seat, r.scheduled_for, r.number, r.volley, r.cancel,
      exists (select from detent.attempt a where a.schedule_id = r.schedule_id and a.scheduled_for = r.scheduled_for) as tried
    from unnest(b_id, b_seat, b_volley) b(id, seat, volley)
    join detent.running r on r.schedule_id = b.id and r.seat = b.seat and r.volley = b.volley
    for update of r
  ), gone as (
    delete from detent.running r using mine m where r.schedule_id = m.schedule_id and r.seat = m.seat and not m.tried
  ), resting as (
    update detent.running r set node = null, volley = null from mine m
    where r.schedule_id = m.schedule_id and r.seat = m.seat and m.tried
  ), put as (
    insert into detent.waiting (schedule_id, scheduled_for, number, pool, lane, due_at, expires_at, held, kind, slot_at, seats,
                                seat, needs)
    select m.schedule_id, m.scheduled_for, m.number + 1, p.pool, p.lane, greatest(f.due_at, detent.now()),
           case when not m.tried then f.due_at + p.start_deadline end,
           case when m.cancel is null then p.held else 'cancelled' end, nullif(f.kind, 'slot'),
           f.slot_at, p.seats, case when m.tried then m.seat end,
           p.needs
    from mine m
    join detent.firing f on f.schedule_id = m.schedule_id and f.scheduled_for = m.scheduled_for
    cross join lateral detent.place_v1(m.schedule_id) p
    returning 1
  )
  select count(*) into handed from put;
  return handed;
end $$;
