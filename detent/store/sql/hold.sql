-- What waits of a schedule is withheld: all of it, or what is due before $3, the end of a pause; a shorter pause lets go what
-- a longer one withheld. Held, not deleted: a resume before its instant releases it. What an edit withheld stays so under a
-- pause. Locks: those waiting rows; a claim that is first has won.
update detent.waiting set held = case when $3::timestamptz is null or due_at < $3 then $2 end
where schedule_id = $1 and ($2 <> 'paused' or held is null or held in ('paused', 'queued'))
  and held is distinct from case when $3::timestamptz is null or due_at < $3 then $2 end
returning scheduled_for
