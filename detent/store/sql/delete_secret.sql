-- A value that is not used any more.
delete from detent.secret where tenant_id = $1 and kind = 'value' and name = $2 returning id
