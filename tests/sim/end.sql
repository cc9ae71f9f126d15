-- What must not be when all is over. $1 to $5: all runs, as they really were: schedule, scheduled_for, volley, whether they
-- succeeded, and whether their process was well to the end.
with run as (
  select * from unnest($1::bigint[], $2::timestamptz[], $3::bigint[], $4::boolean[], $5::boolean[])
    r (schedule_id, scheduled_for, volley, succeeded, told)
)
-- Every run has an attempt under its token.
select format('%s %s ran with token %s, and no attempt says so', r.schedule_id, r.scheduled_for, r.volley)
from run r
where not exists (select from detent.attempt a where a.schedule_id = r.schedule_id and a.scheduled_for = r.scheduled_for
                  and a.volley = r.volley)
union all
-- What a zombie brought is on record as stale.
select format('%s %s succeeded with token %s, and nothing says so', r.schedule_id, r.scheduled_for, r.volley)
from run r
where r.succeeded and r.told
  and not exists (select from detent.attempt a where a.schedule_id = r.schedule_id and a.scheduled_for = r.scheduled_for
                  and a.volley = r.volley and a.outcome = 'succeeded')
  and not exists (select from detent.stale_result s where s.schedule_id = r.schedule_id and s.scheduled_for = r.scheduled_for
                  and s.volley = r.volley)
union all
-- What is said to have succeeded did.
select format('%s %s (%s) is said to have succeeded, and did not', a.schedule_id, a.scheduled_for, a.number)
from detent.attempt a
where a.outcome = 'succeeded'
  and not exists (select from run r where r.schedule_id = a.schedule_id and r.scheduled_for = a.scheduled_for
                  and r.volley = a.volley and r.succeeded)
union all
-- What never ran has no attempt that says it did: but a node may die between a claim and its start.
select format('%s %s (%s) is said to be %s, and never began', a.schedule_id, a.scheduled_for, a.number, a.outcome)
from detent.attempt a
where a.number > 0 and a.outcome not in ('lost', 'cancelled', 'discarded')
  and not exists (select from run r where r.schedule_id = a.schedule_id and r.scheduled_for = a.scheduled_for
                  and r.volley = a.volley)
union all
select format('%s %s was promised, and has not ended', f.schedule_id, f.scheduled_for)
from detent.firing f
where not exists (select from detent.attempt a where a.schedule_id = f.schedule_id and a.scheduled_for = f.scheduled_for and a.final)
  and not exists (select from detent.dead d where d.schedule_id = f.schedule_id and d.scheduled_for = f.scheduled_for)
union all
select format('timer %s is behind: its cursor is %s', t.schedule_id, t.next_at)
from detent.timer t where t.active and t.next_at < detent.now() - interval '3 s'
union all
select format('shard %s has no living holder', s.id)
from detent.shard s left join detent.node n on n.id = s.holder and n.lease_expires_at > detent.now()
where n.id is null
union all
select format('node %s died, and was not buried', n.id) from detent.node n where n.lease_expires_at < detent.now() - interval '10 s'
