-- Wishes to be granted, with whom they are about. No locks.
select w.schedule_id, w.revision, w.reason, t.name as tenant, s.name
from detent.pause_wish w
join detent.schedule s on s.id = w.schedule_id join detent.tenant t on t.id = s.tenant_id
order by w.wished_at limit $1
