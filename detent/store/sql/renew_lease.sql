-- Only an unexpired lease is renewed: 0 rows mean that everything held under it is void.
update detent.node set lease_expires_at = detent.now() + make_interval(secs => $2)
where id = $1 and lease_expires_at > detent.now() returning stopping
