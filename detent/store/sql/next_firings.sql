-- What fires next, each schedule once: what is promised already, and where the cursors stand. For people. No locks.
select s.name, min(n.scheduled_for) as scheduled_for
from (
  (select schedule_id, scheduled_for, due_at from detent.waiting where held is null order by due_at limit 100 * $1)
  union all
  (select schedule_id, next_at, next_at from detent.timer where active and next_at is not null order by next_at limit $1)
) n
join detent.schedule s on s.id = n.schedule_id
group by s.name order by min(n.due_at), s.name limit $1
