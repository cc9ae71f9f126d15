-- Names declared by an app. No locks.
select name from detent.schedule where tenant_id = $1 and origin = $2 and status <> 'deleted' order by name
