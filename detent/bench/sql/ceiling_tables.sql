-- A log of work, the results, and the one row that says how far the log is claimed.
create table ceiling_log (id bigint primary key, job int not null, due timestamptz not null);
create table ceiling_result (id bigint, job int, due timestamptz, finished timestamptz, state smallint);
create index on ceiling_result (job, due);
create table ceiling_lease (low bigint primary key, high bigint, at timestamptz);
create table ceiling_cursor (position bigint) with (fillfactor = 10);
insert into ceiling_cursor values (0)
