-- A page of instances, newest first; the next page begins below the last id. Index: the primary key, backwards.
-- $1 below this id  $2 machine  $3 status  $4 queue  $5 step  $6 limit
SELECT g.id, g.fsm, g.fsm_version, g.step, g.status::text AS status, g.state::text AS state, g.carry::text AS carry,
  g.result::text AS result, g.last_error, g.cancelled_at IS NOT NULL AS cancelled, coalesce(g.awaits, '{}') AS awaits, g.correlation_key, 'done' = ANY (g.correlation_scope) AS key_kept,
  g.queue, g.priority, g.home_queue, g.home_priority,
  g.attempt, g.crashes, g.transitions, g.locked_by,
  (extract(epoch FROM CASE WHEN isfinite(g.await_deadline) THEN g.await_deadline END) * 1000000)::bigint AS await_deadline_us,
  g.blocked_by, (extract(epoch FROM CASE WHEN isfinite(g.due_at) THEN g.due_at END) * 1000000)::bigint AS due_us,
  (extract(epoch FROM CASE WHEN isfinite(g.deadline_at) THEN g.deadline_at END) * 1000000)::bigint AS deadline_us,
  (extract(epoch FROM CASE WHEN isfinite(g.eligible_at) THEN g.eligible_at END) * 1000000)::bigint AS eligible_us,
  (extract(epoch FROM CASE WHEN isfinite(g.lease_expires_at) THEN g.lease_expires_at END) * 1000000)::bigint AS lease_us,
  (extract(epoch FROM CASE WHEN isfinite(g.inserted_at) THEN g.inserted_at END) * 1000000)::bigint AS inserted_us,
  (extract(epoch FROM CASE WHEN isfinite(g.updated_at) THEN g.updated_at END) * 1000000)::bigint AS updated_us
FROM {schema}.gen_durable g
WHERE ($1::bigint IS NULL OR g.id < $1)
  AND ($2::text IS NULL OR g.fsm = $2)
  AND ($3::text IS NULL OR g.status::text = $3)
  AND ($4::text IS NULL OR g.queue = $4)
  AND ($5::text IS NULL OR g.step = $5)
ORDER BY g.id DESC
LIMIT $6
