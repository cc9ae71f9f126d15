-- See functions/overlap_v1.sql.
select * from detent.overlap_v1($1)
