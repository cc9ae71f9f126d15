-- The cap of a pool; made on first use.
insert into detent.pool (name) values ($1) on conflict (name) do update set name = excluded.name returning cap
