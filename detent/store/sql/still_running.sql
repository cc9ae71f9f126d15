-- Whether an attempt is under way by the ledger. Locks: its running row, so that a transaction which has deleted it, and whose
-- end we don't know, is waited for.
select true from detent.running where schedule_id = $1 and seat = $2 and volley = $3 for update
