-- See functions/succeed_v1.sql.
select detent.succeed_v1($1, $2, $3, $4, $5, $6, $7, $8)
