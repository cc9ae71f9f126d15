-- The last instant of a schedule for which something waits. Locks: none; the timer is locked.
select max(scheduled_for) from detent.waiting where schedule_id = $1
