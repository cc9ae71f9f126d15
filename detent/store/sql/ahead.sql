-- How many slots from an instant on are promised already. Locks: none; the timer is locked.
select count(*) from detent.firing
where schedule_id = $1 and scheduled_for >= $2 and scheduled_for < $2 + interval '7 days' and kind in ('slot', 'catch_up')
