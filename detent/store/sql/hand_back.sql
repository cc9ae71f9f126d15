-- See functions/hand_back_v1.sql.
select detent.hand_back_v1($1, $2, $3)
