-- A page of instances, newest first; the next page begins below the last id. Index: the primary key, backwards.
-- ?1 below this id  ?2 machine  ?3 status  ?4 queue  ?5 step  ?6 limit
SELECT g.id, g.fsm, g.fsm_version, g.step, g.status, g.state, g.carry, g.result, g.last_error, g.cancelled_at IS NOT NULL AS cancelled,
  g.awaits,
  g.correlation_key, instr(g.correlation_scope, '"done"') > 0 AS key_kept,
  g.queue, g.priority, g.home_queue, g.home_priority, g.attempt, g.crashes, g.transitions, g.locked_by, g.await_deadline, g.deadline_at, g.blocked_by, g.due_at,
  g.eligible_at, g.lease_expires_at, g.inserted_at, g.updated_at
FROM gen_durable AS g NOT INDEXED
WHERE g.id < coalesce(?1, 9223372036854775807)
  AND (?2 IS NULL OR g.fsm = ?2)
  AND (?3 IS NULL OR g.status = ?3)
  AND (?4 IS NULL OR g.queue = ?4)
  AND (?5 IS NULL OR g.step = ?5)
ORDER BY g.id DESC
LIMIT ?6
