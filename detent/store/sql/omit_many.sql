-- Ranges of several schedules that deliberately do not fire.
insert into detent.omission (schedule_id, from_at, to_at, reason, revision, tenant_id, count)
select o.id, o.from_at, o.to_at, o.reason, t.revision, t.tenant_id, o.n
from unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[], $4::text[], $5::bigint[]) o (id, from_at, to_at, reason, n)
join detent.timer t on t.schedule_id = o.id
