-- See functions/plan_v1.sql.
select moved, promised from detent.plan_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
