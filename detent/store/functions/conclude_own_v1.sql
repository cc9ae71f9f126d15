-- The end of an attempt whose task has written in this very transaction: what succeed_v1 does, last before the commit.
-- False: the firing was taken from it, and nothing of this transaction may be committed.
--
-- From here on the session holds the running row, which a burial of its node needs. So it gets our own short time-outs for
-- what is left of the transaction: whoever stops now is cut off by the server, and nothing is written.
create or replace function detent.conclude_own_v1(
  in_id bigint, in_seat bigint, in_volley bigint, in_revision int, in_started float8, in_finished float8, in_wakes boolean,
  in_statement_timeout interval, in_lock_timeout interval, in_idle_timeout interval
) returns boolean language plpgsql
set plan_cache_mode = force_generic_plan as $$
begin
  perform set_config(o.name, round(extract(epoch from o.timeout) * 1000)::text, true)
  from (values ('statement_timeout', in_statement_timeout), ('lock_timeout', in_lock_timeout),
               ('idle_in_transaction_session_timeout', in_idle_timeout)) o(name, timeout);
  return 1 = detent.succeed_v1(array[in_id], array[in_seat], array[in_volley], array[in_revision], array[in_started],
                               array[in_finished], null, case when in_wakes then array[in_id] else '{}' end);
end $$;
