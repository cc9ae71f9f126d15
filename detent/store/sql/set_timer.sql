-- The cursor after a command. It only moves forward. Locks: held already.
update detent.timer
set next_at = case when $2::timestamptz is null then next_at else greatest(next_at, $2) end,
    active = $3, fired_count = $4, revision = $5
where schedule_id = $1
