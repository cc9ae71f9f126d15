-- Waiting firings of a schedule are withheld, but for the slots that are kept. Held, not deleted: a resume, or an edit
-- that yields the slot again, releases them. Locks: those waiting rows; a claim that is first has won.
update detent.waiting set held = $2
where schedule_id = $1 and (held is null or held <> $2) and scheduled_for <> all ($3::timestamptz[])
  and (due_at > detent.now() or $4)
returning scheduled_for
