-- The partitions of firing and attempt. No locks.
select c.relname as name, p.relname as parent, i.inhdetachpending as pending
from pg_inherits i
join pg_class c on c.oid = i.inhrelid
join pg_class p on p.oid = i.inhparent
join pg_namespace n on n.oid = p.relnamespace
where n.nspname = 'detent' and p.relname in ('firing', 'attempt')
order by c.relname
