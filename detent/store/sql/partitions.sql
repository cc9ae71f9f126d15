-- The partitions of firing and attempt, attached or not, oldest first: one that was detached and not dropped has no parent.
-- `fresh`: it has rows, and was never analysed. No locks.
select c.relname as name, split_part(c.relname, '_', 1) as parent, i.inhparent is not null as attached,
  coalesce(i.inhdetachpending, false) as pending, c.reltuples <= 0 and pg_relation_size(c.oid) > 0 as fresh
from pg_class c
left join pg_inherits i on i.inhrelid = c.oid
where c.relnamespace = 'detent'::regnamespace and c.relkind = 'r' and c.relname ~ '^(firing|attempt)_\d{8}$'
order by right(c.relname, 8), c.relname
