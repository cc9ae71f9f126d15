-- The same spec as a new revision by other zone rules, from $5 on. Locks: held already, see lock_schedule.
with closed as (
  update detent.revision set valid_to = $5 where schedule_id = $1 and number = $2 - 1 returning spec
), next as (
  insert into detent.revision (schedule_id, number, spec, valid_from, by, reason, tzdata)
  select $1, $2, spec, $5, $3, $4, $6 from closed
), timer as (
  update detent.timer set revision = $2 where schedule_id = $1
)
update detent.schedule set revision = $2 where id = $1
