-- A worker's claim: waiting firings take their seats and become a volley.
--
-- 1. The heads of each lane are locked, skipping what others have locked and what is visibly refused a seat.
-- 2. Fresh ones leave `waiting` and take a seat by INSERT. The look at `running` was no lock: a seat that a rival took
--    meanwhile is a violation of the primary key, which undoes the whole step, deletions included. Then we look again:
--    the rival has committed, so each new look begins with more to see.
-- 3. Retries take the very seat that their resting row holds, and leave `waiting` only if they got it.
-- Whoever runs counts, on whatever seat: after an edit to fewer seats, those who run may sit beyond them.
--
-- The number of the volley is drawn after the rows of earlier claims were locked and before ours are taken by anybody
-- else, so the tokens of a firing only grow. Locks: waiting (skipping), then running in the order of schedules.
-- `in_needs`: what the worker can do; firings that need anything else are left to others, untouched.
-- `in_floors` only spare walking over dead index entries: see detent/floor.py.
--
-- One plan for ever, by index: hot tables are never analysed at the right moment. Seats are counted by subqueries that
-- can't be hashed, for that would read all that ran since the horizon was last let go.
create or replace function detent.claim_v1(
  in_node bigint, in_pool text, in_lanes bigint[], in_quotas int[], in_floors timestamptz[], in_ahead interval,
  in_needs int[]
) returns table (
  schedule_id bigint, scheduled_for timestamptz, seat bigint, number int, volley bigint, due_at timestamptz,
  revision int, lane bigint, work text, kind text, slot_at timestamptz, read_at timestamptz,
  name text
) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  as_of timestamptz := detent.now();
  claimed_at timestamptz := detent.clock();
  looks_left int := 5;
begin
  -- The lease is the fence: a burial waits for this lock, and whoever was buried finds no row and claims nothing.
  perform from detent.node n where n.id = in_node and n.lease_expires_at > as_of for key share;
  if not found then
    return;
  end if;

  loop
    begin
      return query
      with head as materialized (
        select w.*
        from unnest(in_lanes, in_quotas, in_floors) l(lane, quota, floor)
        cross join lateral (
          select w.ctid as place, w.schedule_id, w.scheduled_for, w.number, w.due_at, w.lane, w.seats, w.seat, w.kind,
                 w.slot_at
          from detent.waiting w
          where w.pool = in_pool and w.lane = l.lane and w.held is null
            and w.due_at >= l.floor and w.due_at <= as_of + in_ahead and w.needs = any (in_needs)
            and (w.expires_at is null or w.expires_at > as_of)
            and (w.seats = 0 or w.seat is not null
                 or w.seats = 1 and (select 1 from detent.running r where r.schedule_id = w.schedule_id limit 1) is null
                 or w.seats > 1
                    and (select count(*) from detent.running r where r.schedule_id = w.schedule_id) < w.seats)
          order by w.due_at limit l.quota
          for update of w skip locked
        ) w
      ), volley as materialized (
        select nextval('detent.volley') as number from (select count(*) from head) after_the_locks
      ), asking as (
        select h.*,
          case
            when h.seat is not null then h.seat
            when h.seats = 0 then (extract(epoch from h.scheduled_for) * 1000000)::bigint
            when h.seats = 1 then 0
            else (select s from generate_series(0, h.seats - 1) s
                  where not exists (select from detent.running r where r.schedule_id = h.schedule_id and r.seat = s)
                    and h.before < h.seats - (select count(*) from detent.running r where r.schedule_id = h.schedule_id)
                  order by s offset h.before limit 1)
          end as takes
        from (
          select h.*,
            row_number() over (partition by h.schedule_id, h.seat is null order by h.due_at, h.scheduled_for) - 1 as before
          from head h
        ) h
        where h.seats <> 1 or h.before = 0
      ), fresh as (
        delete from detent.waiting w using asking a
        where w.ctid = a.place and a.seat is null and a.takes is not null
        returning a.schedule_id, a.scheduled_for, a.takes, a.number, a.due_at, a.lane, a.kind, a.slot_at
      ), seated as (
        insert into detent.running (schedule_id, seat, scheduled_for, number, volley, node, started_at, lane, pool)
        select f.schedule_id, f.takes, f.scheduled_for, f.number, (select v.number from volley v), in_node, claimed_at,
               f.lane, in_pool
        from fresh f
        order by f.schedule_id, f.takes -- two claims that meet wait for each other in one direction
        returning 1
      ), reseated as (
        insert into detent.running (schedule_id, seat, scheduled_for, number, volley, node, started_at, lane, pool)
        select a.schedule_id, a.takes, a.scheduled_for, a.number, (select v.number from volley v), in_node, claimed_at,
               a.lane, in_pool
        from asking a where a.seat is not null
        order by a.schedule_id, a.takes
        on conflict (schedule_id, seat) do update
          set number = excluded.number, volley = excluded.volley, node = excluded.node, started_at = excluded.started_at,
              lane = excluded.lane, pool = excluded.pool, cancel = null
          where running.scheduled_for = excluded.scheduled_for and running.node is null
        returning running.schedule_id, running.scheduled_for, running.seat
      ), again as (
        delete from detent.waiting w using reseated r
        where w.schedule_id = r.schedule_id and w.scheduled_for = r.scheduled_for
        returning w.schedule_id, w.scheduled_for, r.seat, w.number, w.due_at, w.lane, w.kind, w.slot_at
      )
      select c.schedule_id, c.scheduled_for, c.takes, c.number, (select v.number from volley v), c.due_at, s.revision,
             c.lane, s.work, c.kind, c.slot_at, claimed_at, s.name
      from (select * from fresh union all select * from again) c
      join detent.schedule s on s.id = c.schedule_id
      where (select count(*) from seated) >= 0; -- no row is told before all have their seats
      return;
    exception when unique_violation then
      looks_left := looks_left - 1;
      if looks_left = 0 then
        raise;
      end if;
    end;
  end loop;
end $$;
