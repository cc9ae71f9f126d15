-- The work: $1 rows, due a minute ago.
insert into ceiling_log select i, i, now() - interval '1 min' from generate_series(1, $1::int) i
