-- Running rows of a node that is gone, with what is needed to settle them; the revision is the one that held when they
-- were claimed. Locks: those rows, but those that the dead one is concluding after all: it is a zombie, and if its
-- conclusion commits it has won. So a burial waits for no zombie, and no zombie in turn for a burial. When they began, if
-- they did, nobody knows: not before they were claimed, and not before they were due.
select r.schedule_id, r.seat, r.scheduled_for, r.volley, r.number, greatest(r.started_at, f.due_at) as started_at,
  s.work, s.overlap,
  (select max(v.number) from detent.revision v where v.schedule_id = r.schedule_id and v.valid_from <= r.started_at) as revision
from detent.running r
left join detent.schedule s on s.id = r.schedule_id
left join detent.firing f on f.schedule_id = r.schedule_id and f.scheduled_for = r.scheduled_for
where r.node = $1 order by r.schedule_id, r.seat limit $2
for update of r skip locked
