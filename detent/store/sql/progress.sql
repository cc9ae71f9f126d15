-- What a long run says of itself, if it is still the one that runs. What it doesn't say again stays. Locks: that row.
insert into detent.progress (schedule_id, scheduled_for, volley, done, note)
select r.schedule_id, r.scheduled_for, r.volley, $4, $5 from detent.running r
where r.schedule_id = $1 and r.scheduled_for = $2 and r.volley = $3
on conflict (schedule_id, scheduled_for) do update
  set volley = excluded.volley, at = detent.now(),
      done = coalesce(excluded.done, case when progress.volley = excluded.volley then progress.done end),
      note = coalesce(excluded.note, case when progress.volley = excluded.volley then progress.note end)
returning 1
