-- The one clock. No locks.
select detent.now()
