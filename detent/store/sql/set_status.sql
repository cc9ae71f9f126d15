-- Active, paused, ended or deleted, and why. Locks: held already.
update detent.schedule set status = $2, status_reason = $3, paused_until = $4 where id = $1
