-- Secrets that are not sealed with this key, locked for being sealed anew. Locks: those rows, skipping what others work on.
select id, tenant_id, kind, name, key_id, sealed from detent.secret where key_id <> $1
order by id limit $2 for update skip locked
