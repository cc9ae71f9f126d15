-- Claims of capped lanes come one after another: the locks are taken in a statement of its own, in order, so that the
-- count that follows sees what the one before has claimed.
select pg_advisory_xact_lock(k) from (select unnest($1::bigint[]) as k order by 1) k
