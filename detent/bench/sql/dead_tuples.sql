-- Dead tuples by relation, partitions counted with their table.
select regexp_replace(relname, '_\d{8}$', '') as relation, sum(n_dead_tup)::bigint as dead
from pg_stat_user_tables where schemaname = 'detent'
group by 1 having sum(n_dead_tup) > 0 order by 2 desc
