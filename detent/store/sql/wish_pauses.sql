-- Targets that ask never to be called again, under the revisions that said to. Locks: those rows.
insert into detent.pause_wish (schedule_id, revision, reason)
select distinct on (w.id) w.id, w.revision, w.reason from unnest($1::bigint[], $2::int[], $3::text[]) w (id, revision, reason)
order by w.id, w.revision desc
on conflict (schedule_id) do update set revision = excluded.revision, reason = excluded.reason
