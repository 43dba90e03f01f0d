-- Every instance, parents first as far as ids tell; a parent with a higher id comes by links.sql.
-- Index: the primary key, or a sort.
SELECT
  id, fsm, fsm_version::bigint, step, status::text, state::text, carry::text, result::text,
  to_json(awaits)::text, to_json(received)::text, queue, priority::bigint, home_queue, home_priority::bigint,
  concurrency_key, concurrency_shard::bigint,
  CASE eligible_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM eligible_at) * 1000000)::bigint END,
  attempt::bigint, errors::bigint, crashes::bigint, transitions, last_error,
  CASE await_deadline WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM await_deadline) * 1000000)::bigint END,
  rate_limit, weight, locked_by,
  CASE lease_expires_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM lease_expires_at) * 1000000)::bigint END,
  CASE WHEN parent_id <= id THEN parent_id END, children_pending::bigint, correlation_key,
  to_json(correlation_scope)::text,
  CASE inserted_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM inserted_at) * 1000000)::bigint END,
  CASE updated_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM updated_at) * 1000000)::bigint END,
  await_mode::bigint, await_need::bigint, to_json(await_groups)::text, parent_round, child_index::bigint,
  counted::int::bigint, children_done::bigint, children_quorum::bigint, shielded::int::bigint,
  CASE cancelled_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM cancelled_at) * 1000000)::bigint END, cancel_reason,
  CASE deadline_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM deadline_at) * 1000000)::bigint END,
  CASE expired_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM expired_at) * 1000000)::bigint END,
  expires::int::bigint, to_json(exit_signals)::text, blocked_by,
  CASE due_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM due_at) * 1000000)::bigint END
FROM {schema}.gen_durable
ORDER BY id
