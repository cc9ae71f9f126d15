-- Dead firings get their last word, unless their promise is past the retention: then they leave by themselves. Who deletes the dead row owns the decision. Locks: those rows, in their order.
with asked as (
  select d.schedule_id, d.scheduled_for
  from detent.dead d join unnest($2::bigint[], $3::timestamptz[]) a (id, scheduled_for)
    on d.schedule_id = a.id and d.scheduled_for = a.scheduled_for
  where d.tenant_id = $1
    and exists (select from detent.firing f where f.schedule_id = d.schedule_id and f.scheduled_for = d.scheduled_for)
  order by d.schedule_id, d.scheduled_for for update of d
), taken as (
  delete from detent.dead d using asked a where d.schedule_id = a.schedule_id and d.scheduled_for = a.scheduled_for
  returning d.schedule_id, d.scheduled_for
), counted as (
  insert into detent.tally (minute, tenant_id, outcome, n)
  select date_trunc('minute', detent.now()), $1, 'discarded', count(*) from taken having count(*) > 0
)
insert into detent.attempt (schedule_id, scheduled_for, number, outcome, final, finished_at, tenant_id, code, error)
select t.schedule_id, t.scheduled_for, 0, 'discarded', true, detent.now(), $1, 'asked', $4 from taken t
returning schedule_id, scheduled_for
