-- The package of zone rules by which all schedules are planned. No locks.
select version from detent.tzdata
