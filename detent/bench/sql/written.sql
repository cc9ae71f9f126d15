-- Bytes of WAL, and transactions of this database, so far.
select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint as wal,
  (select xact_commit from pg_stat_database where datname = current_database()) as commits
