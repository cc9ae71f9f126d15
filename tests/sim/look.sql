-- What must not be, at this moment. $1 to $3: what runs, as its own process has it: schedule, scheduled_for, volley.
-- $4: now.
with touched as (
  delete from sim.touched returning schedule_id, scheduled_for
), place as (
  select t.schedule_id, t.scheduled_for,
    (select count(*) from detent.firing f where f.schedule_id = t.schedule_id and f.scheduled_for = t.scheduled_for) as firings,
    (select count(*) from detent.waiting w where w.schedule_id = t.schedule_id and w.scheduled_for = t.scheduled_for) as waits,
    (select count(*) from detent.running r where r.schedule_id = t.schedule_id and r.scheduled_for = t.scheduled_for
     and r.node is not null) as runs,
    (select count(*) from detent.running r where r.schedule_id = t.schedule_id and r.scheduled_for = t.scheduled_for
     and r.node is null
     and not exists (select from detent.waiting w where w.schedule_id = r.schedule_id and w.scheduled_for = r.scheduled_for
                     and w.seat = r.seat)) as rests,
    (select count(*) from detent.dead d where d.schedule_id = t.schedule_id and d.scheduled_for = t.scheduled_for) as dead,
    (select count(*) from detent.attempt a where a.schedule_id = t.schedule_id and a.scheduled_for = t.scheduled_for
     and a.final) as concluded
  from (select distinct schedule_id, scheduled_for from touched) t
)
select what from sim.breach
union all
-- Conservation, as in store/sql/breaches.sql, for what has moved.
select format('%s %s is promised %s times; waits: %s, runs: %s, dead: %s, concluded: %s, rests in vain: %s',
              schedule_id, scheduled_for, firings, waits, runs, dead, concluded, rests)
from place where firings <> 1 or waits + runs + dead + concluded <> 1 or rests > 0
union all
-- Whoever runs, on a node that lives, holds his seat.
select format('%s %s runs with token %s, and holds no seat', l.schedule_id, l.scheduled_for, l.volley)
from unnest($1::bigint[], $2::timestamptz[], $3::bigint[]) l (schedule_id, scheduled_for, volley)
join sim.claim c using (volley, schedule_id, scheduled_for)
join detent.node n on n.id = c.node and n.lease_expires_at > $4
where not exists (
  select from detent.running r
  where r.schedule_id = l.schedule_id and r.scheduled_for = l.scheduled_for and r.volley = l.volley)
union all
select format('%s %s runs with token %s, which nobody was given', l.schedule_id, l.scheduled_for, l.volley)
from unnest($1::bigint[], $2::timestamptz[], $3::bigint[]) l (schedule_id, scheduled_for, volley)
where not exists (
  select from sim.claim c
  where c.volley = l.volley and c.schedule_id = l.schedule_id and c.scheduled_for = l.scheduled_for)
union all
select format('tenant %s has a cap of %s, and %s run', t.id, t.cap, count(*))
from detent.running r join detent.tenant t on t.id = r.lane / 10
where r.node is not null group by t.id having count(*) > t.cap
union all
select format('pool %s has a cap of %s, and %s run', p.name, p.cap, count(*))
from detent.running r join detent.pool p on p.name = r.pool
where r.node is not null group by p.name having count(*) > p.cap
union all
select format('%s %s: recorded as stale, and on record under that token', s.schedule_id, s.scheduled_for)
from detent.stale_result s
join detent.attempt a using (schedule_id, scheduled_for, volley) where a.outcome <> 'lost'
