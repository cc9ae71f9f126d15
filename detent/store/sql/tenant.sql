-- A tenant by name. No locks.
select id, min_interval from detent.tenant where name = $1
