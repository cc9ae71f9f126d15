-- How often these firings were attempted, and how often the attempt was lost with its node. No locks.
select f.id as schedule_id, f.scheduled_for,
  count(a.number) filter (where a.number > 0) as attempts,
  count(*) filter (where a.outcome = 'lost' and a.code is distinct from 'stopping') as lost
from unnest($1::bigint[], $2::timestamptz[]) f (id, scheduled_for)
left join detent.attempt a on a.schedule_id = f.id and a.scheduled_for = f.scheduled_for
group by f.id, f.scheduled_for
