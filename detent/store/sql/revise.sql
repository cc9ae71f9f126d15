-- A new revision takes over at $15, the instant of the decision, by which its slots are drawn, too. Locks: held already, see
-- lock_schedule.
with closed as (
  update detent.revision set valid_to = $15 where schedule_id = $1 and number = $2 - 1
), next as (
  insert into detent.revision (schedule_id, number, spec, valid_from, by, reason, tzdata)
  values ($1, $2, $3, $15, $4, $5, $16)
), timer as (
  update detent.timer set revision = $2, pool = $9, priority = $10, seats = $11, start_deadline = $12, needs = $13
  where schedule_id = $1
)
update detent.schedule set revision = $2, cadence = $6, work = $7, overlap = $8, declared = coalesce($14, declared)
where id = $1
