-- Which of these results are on record as they were brought, under the very volley that brings them: our own commit, its
-- answer lost. A burial writes under the volley of the dead one, too, but never that it succeeded.
select a.schedule_id, a.scheduled_for, a.volley, a.outcome
from unnest($1::bigint[], $2::timestamptz[], $3::bigint[], $4::text[]) f (id, scheduled_for, volley, outcome)
join detent.attempt a on a.schedule_id = f.id and a.scheduled_for = f.scheduled_for and a.volley = f.volley
  and a.outcome = f.outcome
