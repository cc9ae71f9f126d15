-- How many slots from an instant on are promised already, and not withheld by an edit. Locks: none; the timer is locked.
select count(*) from detent.firing f
where f.schedule_id = $1 and f.scheduled_for >= $2 and f.scheduled_for < $2 + interval '7 days'
  and f.kind in ('slot', 'catch_up')
  and not exists (select from detent.waiting w where w.schedule_id = $1 and w.scheduled_for = f.scheduled_for and w.held = 'edited')
