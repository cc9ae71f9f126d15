-- The planner's one write: timers move, slots become firings, firings become waiting rows.
--
-- Locks: the shard rows FOR SHARE, then the timers in the order of schedules. A take-over of a shard is an UPDATE of its
-- row, so it waits for this transaction, and whoever was taken over finds no guard row and writes nothing. A timer moves
-- only if it still stands where it was seen, under the revision that was seen: an edit can't be overwritten, a slot can't
-- be planned twice.
-- Waiting rows come from the firings that were really inserted, and from nothing else. None is due before the moment of
-- its insertion: claims begin to look from there (detent/floor.py).
-- A slot that is a firing already, which no timer that moves forward only should come to, undoes the step; it is left
-- out, and the step is taken again.
create or replace function detent.plan_v1(
  in_node bigint, in_shards smallint[], in_epochs bigint[],
  t_id bigint[], t_seen timestamptz[], t_revision int[], t_next timestamptz[], t_fired int[],
  f_id bigint[], f_for timestamptz[], f_due timestamptz[], f_kind text[],
  o_id bigint[], o_from timestamptz[], o_to timestamptz[], o_reason text[], o_count bigint[]
) returns table (moved bigint, promised bigint) language plpgsql
set plan_cache_mode = force_custom_plan as $$
declare
  as_of timestamptz := detent.now();
  epochs bigint[];
  again boolean := false;
begin
  -- By shard, the epoch; null for those that are no longer ours.
  select array_agg(g.epoch order by all_of.id) into epochs
  from generate_series(0, 255) all_of(id)
  left join (
    select s.id, s.epoch from detent.shard s
    join unnest(in_shards, in_epochs) mine(id, epoch) on s.id = mine.id
    where s.holder = in_node and s.epoch = mine.epoch
    order by s.id -- as those do who give shards away
    for share of s
  ) g on g.id = all_of.id;

  loop
    begin
      return query
      with passed as (
        update detent.timer t
        set next_at = seen.next_at, active = seen.next_at is not null,
            fired_count = t.fired_count + seen.fired, last_for = seen.at
        from (select * from unnest(t_id, t_seen, t_revision, t_next, t_fired) order by 1)
          seen(id, at, revision, next_at, fired)
        where t.schedule_id = seen.id and t.next_at = seen.at and t.revision = seen.revision and t.active
          and epochs[t.shard + 1] is not null
        returning t.schedule_id, t.revision, t.tenant_id, t.pool, t.priority, t.seats, t.needs, t.start_deadline,
                  epochs[t.shard + 1] as epoch
      ), promise as (
        insert into detent.firing (schedule_id, scheduled_for, due_at, kind, revision, epoch, tenant_id)
        select p.schedule_id, f.scheduled_for, f.due_at, f.kind, p.revision, p.epoch, p.tenant_id
        from unnest(f_id, f_for, f_due, f_kind) f(id, scheduled_for, due_at, kind)
        join passed p on p.schedule_id = f.id
        order by 1, 2
        returning firing.schedule_id, firing.scheduled_for, firing.due_at, firing.kind
      ), put as (
        insert into detent.waiting (schedule_id, scheduled_for, pool, lane, due_at, expires_at, kind, seats, needs)
        select f.schedule_id, f.scheduled_for, p.pool, p.tenant_id * 10 + p.priority, greatest(f.due_at, as_of),
               f.due_at + p.start_deadline, nullif(f.kind, 'slot'), p.seats, p.needs
        from promise f join passed p on p.schedule_id = f.schedule_id
        returning 1
      ), omitted as (
        insert into detent.omission (schedule_id, from_at, to_at, reason, revision, tenant_id, count)
        select p.schedule_id, o.from_at, o.to_at, o.reason, p.revision, p.tenant_id, o.n
        from unnest(o_id, o_from, o_to, o_reason, o_count) o(id, from_at, to_at, reason, n)
        join passed p on p.schedule_id = o.id
      )
      select (select count(*) from passed), (select count(*) from put);
      return;
    exception when unique_violation then
      if again then
        raise;
      end if;
      again := true;
      select array_agg(f.id), array_agg(f.scheduled_for), array_agg(f.due_at), array_agg(f.kind)
      into f_id, f_for, f_due, f_kind
      from (select distinct * from unnest(f_id, f_for, f_due, f_kind)) f(id, scheduled_for, due_at, kind)
      where not exists (select from detent.firing x where x.schedule_id = f.id and x.scheduled_for = f.scheduled_for);
    end;
  end loop;
end $$;
