-- The signing secret in use retires at $2; the one before it, if there still is one, goes: two are live at most.
-- Locks: the tenant's signing secrets.
with gone as (
  delete from detent.secret where tenant_id = $1 and kind = 'signing' and retires_at is not null
)
update detent.secret set retires_at = $2 where tenant_id = $1 and kind = 'signing' and retires_at is null returning id
