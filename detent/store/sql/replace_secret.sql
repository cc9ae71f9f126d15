-- A value that is set, or set anew. Locks: its row.
insert into detent.secret (tenant_id, kind, name, key_id, sealed) values ($1, 'value', $2, $3, $4)
on conflict (tenant_id, kind, name) where retires_at is null
do update set key_id = excluded.key_id, sealed = excluded.sealed, created_at = detent.now()
returning id
