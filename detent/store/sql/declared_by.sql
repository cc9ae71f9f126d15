-- What an app has declared. No locks.
select name, declared from detent.schedule where tenant_id = $1 and origin = $2 and status <> 'deleted' order by name
