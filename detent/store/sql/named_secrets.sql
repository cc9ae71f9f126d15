-- What a tenant has, without what it says. No locks.
select kind, name, key_id, created_at, retires_at from detent.secret
where tenant_id = $1 and (retires_at is null or retires_at > detent.now())
order by kind, name, created_at desc, id desc
