-- What a node has in its hands, by the ledger. No locks.
select schedule_id, seat, volley from detent.running where node = $1 order by schedule_id, seat limit $2
