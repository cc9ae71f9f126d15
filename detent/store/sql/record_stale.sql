-- What a zombie brings after its firing was taken from it. Changes nothing, but is not forgotten.
insert into detent.stale_result (schedule_id, scheduled_for, number, volley, node, outcome, error)
select s.id, s.scheduled_for, s.number, s.volley, $1, s.outcome, s.error
from unnest($2::bigint[], $3::timestamptz[], $4::int[], $5::bigint[], $6::text[], $7::text[])
  s (id, scheduled_for, number, volley, outcome, error)
