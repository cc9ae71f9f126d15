-- See functions/conclude_own_v1.sql.
select detent.conclude_own_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
