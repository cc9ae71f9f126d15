-- The names of schedules, for people. No locks.
select id, name from detent.schedule where id = any ($1)
