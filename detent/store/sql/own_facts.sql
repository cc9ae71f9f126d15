-- Which of these attempts are on record under the very volley that brought them: our own commit, its answer lost.
select a.schedule_id, a.volley
from unnest($1::bigint[], $2::timestamptz[], $3::bigint[]) f (id, scheduled_for, volley)
join detent.attempt a on a.schedule_id = f.id and a.scheduled_for = f.scheduled_for and a.volley = f.volley
