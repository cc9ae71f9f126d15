-- Firings of a node that somebody wants to end. No locks.
select schedule_id, seat, volley, cancel from detent.running where node = $1 and cancel is not null limit $2
