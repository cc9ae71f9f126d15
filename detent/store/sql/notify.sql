-- A hint that something is due at once in a pool. Lost hints cost one poll.
select pg_notify('detent', $1)
