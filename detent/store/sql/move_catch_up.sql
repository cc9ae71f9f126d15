-- The cursors only move forward. Locks: catch_up rows, in order, after everything else.
update detent.catch_up c set cursor = greatest(c.cursor, n.cursor), rate = n.rate
from (select * from unnest($1::smallint[], $2::timestamptz[], $3::float8[]) n (shard, cursor, rate) order by shard) n
where c.shard = n.shard
