-- One node whose lease is over, locked until its running rows are settled. Skips what another reaper works on. Leaves a
-- heartbeat no way back: it renews unexpired leases only.
select id from detent.node where lease_expires_at <= detent.now() order by lease_expires_at limit 1 for update skip locked
