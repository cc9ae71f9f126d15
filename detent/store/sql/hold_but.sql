-- The slots of a schedule after $3 that its new revision doesn't yield, all but $4, are withheld. What is manual, or was begun,
-- is not the cadence's any more. Held, not deleted: an edit that yields them again releases them. Locks: those waiting rows;
-- a claim that is first has won. What somebody wished to end stays so.
update detent.waiting set held = $2
where schedule_id = $1 and (held is null or held not in ($2, 'cancelled')) and scheduled_for > $3 and scheduled_for <> all ($4::timestamptz[])
  and scheduled_for = date_trunc('milliseconds', scheduled_for)
returning scheduled_for
