-- The timer of a schedule, by the schedule's name: the first lock of a change, so that planners and other editors wait.
-- What a change reads is read by a later statement, which sees what the one before it has committed. Locks: the timer.
select t.schedule_id from detent.timer t join detent.schedule s on s.id = t.schedule_id
where s.tenant_id = $1 and s.name = $2 and s.status <> 'deleted'
for update of t
