-- Waiting firings of a schedule are withheld. Held, not deleted: a resume, or an edit that yields the slot again, releases
-- them. $4: everything that waits (a pause); else the slots to come that are not kept (an edit), for what is manual, or
-- was begun, is not the cadence's any more. Locks: those waiting rows; a claim that is first has won.
update detent.waiting set held = $2
where schedule_id = $1 and held is distinct from $2
  and ($4 or scheduled_for > detent.now() and scheduled_for <> all ($3::timestamptz[])
             and scheduled_for = date_trunc('milliseconds', scheduled_for))
returning scheduled_for
