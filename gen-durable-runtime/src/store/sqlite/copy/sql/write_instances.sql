-- One row of gen_durable; its parameters are its columns.
INSERT INTO gen_durable (
  id, fsm, fsm_version, step, status, state, carry, result, awaits, received, queue, priority, home_queue,
  home_priority, concurrency_key, concurrency_shard, eligible_at, attempt, errors, crashes, transitions,
  last_error, await_deadline, rate_limit, weight, locked_by, lease_expires_at, parent_id, children_pending,
  correlation_key, correlation_scope, inserted_at, updated_at, await_mode, await_need, await_groups, parent_round, child_index, counted,
  children_done, children_quorum, shielded, cancelled_at, cancel_reason,
  deadline_at, expired_at, expires, exit_signals, blocked_by, due_at
) VALUES (
  ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
  ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
)
