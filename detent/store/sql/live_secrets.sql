-- The secrets of a tenant that are in use: signing ones newest first. No locks.
select kind, name, key_id, sealed from detent.secret
where tenant_id = $1 and (retires_at is null or retires_at > detent.now())
order by kind, retires_at desc nulls first, created_at desc, id desc
