-- See functions/cancel_v1.sql.
select detent.cancel_v1($1, $2, $3)
