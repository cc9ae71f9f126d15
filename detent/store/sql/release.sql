-- These slots were withheld by a pause or an edit, and may run again: their instant had not passed at $3. Locks: those waiting
-- rows; whoever ends them first has won.
update detent.waiting set held = null
where schedule_id = $1 and scheduled_for = any ($2) and held in ('paused', 'edited') and due_at > $3
returning scheduled_for
