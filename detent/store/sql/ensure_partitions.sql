-- The days' partitions of firing and attempt. Locks the parents for a moment where one is made.
select detent.ensure_partitions($1, $2)
