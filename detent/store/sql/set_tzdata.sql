-- From here on all schedules are planned by this package. Locks: the one row.
insert into detent.tzdata (version) values ($1) on conflict (one) do update set version = excluded.version
