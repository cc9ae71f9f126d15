-- These slots were withheld, and may run again: their instant had not passed at $3. Locks: those waiting rows; whoever ends
-- them first has won.
update detent.waiting set held = null
where schedule_id = $1 and scheduled_for = any ($2) and held is not null and held <> 'queued' and due_at > $3
returning scheduled_for
