-- The lanes of a pool that have something due, each with its head: a loose index scan, one probe a lane. No locks.
with recursive head as (
  (select w.lane, w.due_at from detent.waiting w
   where w.pool = $1 and w.held is null and w.lane > $4 and w.due_at >= $2
   order by w.lane, w.due_at limit 1)
  union all
  select n.lane, n.due_at from head h cross join lateral (
    select w.lane, w.due_at from detent.waiting w
    where w.pool = $1 and w.held is null and w.lane > h.lane and w.due_at >= $2
    order by w.lane, w.due_at limit 1) n
)
select h.lane, h.due_at, coalesce(t.weight, 1) as weight, t.cap
from (select * from head limit 1000) h
left join detent.tenant t on t.id = h.lane / 10
where h.due_at <= detent.now() + $3
limit $5
