-- The cursors only move forward. Locks: catch_up rows, in order, after everything else.
update detent.catch_up c set cursor = greatest(c.cursor, n.cursor)
from (select * from unnest($1::smallint[], $2::timestamptz[]) n (shard, cursor) order by shard) n
where c.shard = n.shard
