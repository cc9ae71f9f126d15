-- A new node with its first lease. Ids are random and never used again.
insert into detent.node (id, kind, version, tzdata, lease_expires_at)
values ($1, $2, $3, $4, detent.now() + make_interval(secs => $5))
