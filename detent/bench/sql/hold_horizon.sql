-- A transaction that sees the database as it was, and is forgotten: nothing that dies from now on can be removed.
select pg_current_xact_id(), count(*) from detent.schedule
