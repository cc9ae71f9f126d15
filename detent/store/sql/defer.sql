-- Claimed firings that can't begin wait again, for a later instant. See functions/defer_v1.sql.
select detent.defer_v1($1, $2, $3, $4)
