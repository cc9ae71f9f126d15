-- Where the ledger contradicts itself, among firings in [$1, $2): the law of conservation, as a question. Every firing is in
-- exactly one of waiting, running with a worker, dead, or concluded; a resting seat belongs to a waiting firing; nothing
-- waits, runs or is dead that was never promised. No locks; one snapshot, so it may be asked at any moment.
with place as (
  select f.schedule_id, f.scheduled_for,
    exists (select from detent.waiting w where w.schedule_id = f.schedule_id and w.scheduled_for = f.scheduled_for)::int as waits,
    exists (select from detent.running r where r.schedule_id = f.schedule_id and r.scheduled_for = f.scheduled_for
            and r.node is not null)::int as runs,
    exists (select from detent.dead d where d.schedule_id = f.schedule_id and d.scheduled_for = f.scheduled_for)::int as dead,
    (select count(*) from detent.attempt a where a.schedule_id = f.schedule_id and a.scheduled_for = f.scheduled_for
     and a.final) as concluded
  from detent.firing f where f.scheduled_for >= $1 and f.scheduled_for < $2
)
select p.schedule_id, p.scheduled_for,
  format('in %s places: waiting %s, running %s, dead %s, concluded %s',
         p.waits + p.runs + p.dead + p.concluded, p.waits, p.runs, p.dead, p.concluded) as breach
from place p where p.waits + p.runs + p.dead + p.concluded <> 1
union all
select r.schedule_id, r.scheduled_for, 'a seat rests for a firing that does not wait for it'
from detent.running r
where r.scheduled_for >= $1 and r.scheduled_for < $2 and r.node is null
  and not exists (select from detent.waiting w where w.schedule_id = r.schedule_id and w.scheduled_for = r.scheduled_for
                  and w.seat = r.seat)
union all
select s.schedule_id, s.scheduled_for, s.what || ', and was never promised'
from (
  select w.schedule_id, w.scheduled_for, 'it waits' as what from detent.waiting w
  union all select r.schedule_id, r.scheduled_for, 'it runs' from detent.running r
  union all select d.schedule_id, d.scheduled_for, 'it is dead' from detent.dead d
) s
where s.scheduled_for >= $1 and s.scheduled_for < $2
  and not exists (select from detent.firing f where f.schedule_id = s.schedule_id and f.scheduled_for = s.scheduled_for)
