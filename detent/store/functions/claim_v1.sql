-- A worker's claim: waiting firings take their seats and become a volley.
--
-- 1. The heads of each lane are locked, skipping what others have locked; what is visibly refused a seat is passed over.
-- 2. Each takes a seat by INSERT. A seat that is taken after all (the look at `running` is no lock) refuses silently:
--    the primary key is the judge. A retry takes the very seat that its resting row holds.
-- 3. Only the waiting rows whose seat was granted are deleted; deleting first would lose the refused ones.
--
-- The number of the volley is drawn after the rows of earlier claims were locked and before ours are taken by anybody
-- else, so the tokens of a firing only grow. Locks: waiting (skipping), then running in the order of schedules.
-- `in_floor` only spares walking over dead index entries; the caller leaves it out every few seconds.
create or replace function detent.claim_v1(
  in_node bigint, in_pool text, in_lanes bigint[], in_quotas int[], in_floor timestamptz, in_until timestamptz,
  in_needs smallint
) returns table (
  schedule_id bigint, scheduled_for timestamptz, seat bigint, number int, volley bigint, due_at timestamptz,
  revision int, lane bigint, work text, read_at timestamptz
) language plpgsql
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
  return query
  with head as materialized (
    select w.schedule_id, w.scheduled_for, w.number, w.due_at, w.lane, w.seats, w.seat
    from unnest(in_lanes, in_quotas) l(lane, quota)
    cross join lateral (
      select w.* from detent.waiting w
      where w.pool = in_pool and w.lane = l.lane and w.held is null
        and w.due_at >= in_floor and w.due_at <= in_until and w.needs <= in_needs
        and (w.expires_at is null or w.expires_at > detent.now())
        and (w.seats <> 1 or w.seat is not null
             or not exists (select from detent.running r where r.schedule_id = w.schedule_id and r.seat = 0))
      order by w.due_at limit l.quota
      for update of w skip locked
    ) w
  ), volley as materialized (
    select nextval('detent.volley') as number from (select count(*) from head) after_the_locks
  ), asking as (
    select distinct on (h.schedule_id, h.seat) h.*
    from (
      select h.schedule_id, h.scheduled_for, h.number, h.due_at, h.lane,
        case
          when h.seat is not null then h.seat
          when h.seats = 1 then 0
          when h.seats = 0 then (extract(epoch from h.scheduled_for) * 1000000)::bigint
          else (
            select s from generate_series(0, h.seats - 1) s
            where not exists (select from detent.running r where r.schedule_id = h.schedule_id and r.seat = s)
            order by s
            offset (select count(*) from head o where o.schedule_id = h.schedule_id and o.seat is null
                    and (o.due_at, o.scheduled_for) < (h.due_at, h.scheduled_for)) limit 1)
        end as seat
      from head h offset 0
    ) h
    where h.seat is not null
    order by h.schedule_id, h.seat, h.due_at
  ), seated as (
    insert into detent.running (schedule_id, seat, scheduled_for, number, volley, node, started_at, lane, pool, revision)
    select a.schedule_id, a.seat, a.scheduled_for, a.number, v.number, in_node, detent.clock(), a.lane, in_pool, s.revision
    from asking a join detent.schedule s on s.id = a.schedule_id cross join volley v
    where s.status in ('active', 'ended')
    on conflict (schedule_id, seat) do update
      set number = excluded.number, volley = excluded.volley, node = excluded.node, started_at = excluded.started_at,
          revision = excluded.revision, cancel = null
      where running.scheduled_for = excluded.scheduled_for and running.node is null
    returning running.schedule_id, running.scheduled_for, running.seat, running.number, running.volley, running.revision,
              running.lane
  ), gone as (
    delete from detent.waiting w using seated s
    where w.schedule_id = s.schedule_id and w.scheduled_for = s.scheduled_for
    returning w.schedule_id, w.scheduled_for, s.seat, w.number, s.volley, w.due_at, s.revision, s.lane
  )
  select g.schedule_id, g.scheduled_for, g.seat, g.number, g.volley, g.due_at, g.revision, g.lane, s.work,
         detent.clock()
  from gone g join detent.schedule s on s.id = g.schedule_id;
end $$;
