-- One node whose lease is over, locked until its running rows are settled: the one that died last, so that none that can't
-- be buried yet (bury_node) keeps the others waiting. Skips what another reaper works on. Leaves a heartbeat no way back:
-- it renews unexpired leases only.
select id from detent.node where lease_expires_at <= detent.now() order by lease_expires_at desc limit 1
for update skip locked
