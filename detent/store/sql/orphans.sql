-- Running rows of nodes that are gone, with what is needed to settle them. Locks: none; conclude_v1 is the judge.
select r.schedule_id, r.seat, r.scheduled_for, r.volley, r.number, r.started_at, r.node, s.work
from detent.running r left join detent.schedule s on s.id = r.schedule_id
where r.node = $1 order by r.schedule_id, r.seat limit $2
