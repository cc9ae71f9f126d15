-- The instant of reading, for workers to release firings by. No locks.
select detent.clock()
