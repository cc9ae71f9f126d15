-- A secret of a name that is free; no row if somebody was faster.
insert into detent.secret (tenant_id, kind, name, key_id, sealed) values ($1, $2, $3, $4, $5)
on conflict (tenant_id, kind, name) where retires_at is null do nothing
returning id
