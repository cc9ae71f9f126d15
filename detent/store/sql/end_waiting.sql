-- See functions/end_waiting_v1.sql.
select * from detent.end_waiting_v1($1)
