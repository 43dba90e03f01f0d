-- One instance, by id or by business key. Index: the primary key; gen_durable_correlation.
-- ?1 id  ?2 business key
SELECT g.id, g.fsm, g.fsm_version, g.step, g.status, g.state, g.carry, g.result, g.last_error, g.cancelled_at IS NOT NULL AS cancelled,
  g.awaits,
  g.correlation_key, instr(g.correlation_scope, '"done"') > 0 AS key_kept,
  g.queue, g.priority, g.home_queue, g.home_priority, g.attempt, g.crashes, g.transitions, g.locked_by, g.await_deadline, g.deadline_at, g.blocked_by, g.due_at,
  g.eligible_at, g.lease_expires_at, g.inserted_at, g.updated_at
FROM gen_durable g
WHERE g.id = coalesce(?1, (SELECT k.id FROM gen_durable k WHERE k.correlation_guard = ?2))
