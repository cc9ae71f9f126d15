-- See functions/claim_v1.sql.
select * from detent.claim_v1($1, $2, $3, $4, $5, $6, $7)
