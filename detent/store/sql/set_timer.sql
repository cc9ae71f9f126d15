-- The cursor after a command: behind what the command planned, null if nothing is to come. Under one revision it only moves
-- forward; a change puts it behind its own window, never before the moment of the change. Locks: held already.
update detent.timer set next_at = $2, active = $3, fired_count = $4, revision = $5 where schedule_id = $1
