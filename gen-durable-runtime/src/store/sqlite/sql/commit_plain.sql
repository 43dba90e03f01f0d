-- Writes a batch of the commonest outcomes: on in place, on and requeued, done; of steps that wait for nothing, have no
-- children, and that nothing leaves. It leaves the rows that commit.sql would leave, out of half as much JSON.
--
-- Index, fence, kinds: see commit.sql.
--
-- ?1 the batch: [[id, token, transitions, kind (0, 1, 4), step, state, carry, result, microseconds until due, version, queue,
--    priority, concurrency key, rate limit key, what it takes], ..]
-- ?2 now
WITH r AS MATERIALIZED (SELECT value AS v FROM json_each(?1)),
i AS MATERIALIZED (
  SELECT v ->> 0 AS id, v ->> 1 AS token, v ->> 2 AS transitions, v ->> 3 AS kind, v ->> 4 AS step, v ->> 5 AS state,
    v ->> 6 AS carry, v ->> 7 AS result, ?2 + max(coalesce(v ->> 8, 0), 0) AS due, v ->> 9 AS version, v ->> 10 AS queue,
    v ->> 11 AS priority, v ->> 12 AS concurrency_key, v ->> 13 AS rate_limit, v ->> 14 AS weight,
    v ->> 3 = 1 AND EXISTS (
      SELECT 1 FROM gen_durable h JOIN gen_durable o ON o.correlation_guard = h.correlation_key
      WHERE h.id = v ->> 0 AND h.correlation_key IS NOT NULL AND h.correlation_guard IS NULL
        AND instr(h.correlation_scope, '"runnable"') > 0) AS key_taken
  FROM r
)
UPDATE gen_durable AS g NOT INDEXED
SET status = CASE
      WHEN i.kind = 4 THEN 'done'
      WHEN i.kind = 0 AND g.cancelled_at IS NULL THEN g.status
      WHEN i.key_taken THEN 'failed'
      ELSE 'runnable' END,
    fsm_version = coalesce(i.version, g.fsm_version),
    step = coalesce(i.step, g.step),
    state = coalesce(i.state, g.state),
    carry = coalesce(i.carry, g.carry),
    result = i.result,
    last_error = CASE WHEN i.key_taken THEN 'its business key has a newer occupant' END,
    queue = coalesce(i.queue, g.queue),
    priority = coalesce(i.priority, g.priority),
    concurrency_key = CASE i.kind WHEN 4 THEN g.concurrency_key ELSE i.concurrency_key END,
    rate_limit = CASE i.kind WHEN 4 THEN g.rate_limit ELSE i.rate_limit END,
    weight = CASE i.kind WHEN 4 THEN g.weight ELSE coalesce(i.weight, 1.0) END,
    awaits = NULL,
    await_mode = CASE i.kind WHEN 4 THEN g.await_mode END,
    await_need = CASE i.kind WHEN 4 THEN g.await_need END,
    await_groups = CASE i.kind WHEN 4 THEN g.await_groups END,
    await_deadline = NULL,
    children_pending = 0,
    children_quorum = CASE i.kind WHEN 4 THEN g.children_quorum END,
    shielded = CASE i.kind WHEN 4 THEN g.shielded ELSE 0 END,
    expires = CASE i.kind WHEN 4 THEN g.expires ELSE 0 END,
    exit_signals = CASE i.kind WHEN 4 THEN g.exit_signals END,
    deadline_at = CASE i.kind WHEN 4 THEN NULL ELSE g.deadline_at END,
    received = NULL,
    attempt = CASE i.kind WHEN 4 THEN g.attempt ELSE 0 END,
    errors = CASE i.kind WHEN 4 THEN g.errors ELSE 0 END,
    crashes = 0,
    transitions = g.transitions + 1,
    eligible_at = CASE i.kind WHEN 0 THEN g.eligible_at WHEN 4 THEN ?2 ELSE i.due END,
    lease_expires_at = CASE i.kind WHEN 0 THEN g.lease_expires_at END,
    updated_at = CASE i.kind WHEN 0 THEN g.updated_at ELSE ?2 END
FROM i
WHERE g.id = i.id AND g.locked_by = i.token AND g.transitions = i.transitions AND +g.status = 'executing'
  AND (g.cancelled_at IS NULL OR g.shielded OR i.kind = 4)
RETURNING json_array(id, locked_by, status) AS written
