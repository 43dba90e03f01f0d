-- Writes a batch of the commonest outcomes: on in place, on and requeued, done; of steps that wait for nothing, have no
-- children, and that nothing leaves. It leaves the rows that commit.sql would leave, for two thirds of its time: each array of
-- a batch costs as much as a column written.
--
-- Index, lock, fence, kinds, `ord * 0 = 0`: see commit.sql.
--
-- $1 ids  $2 tokens  $3 transitions  $4 kinds (0, 1, 4)  $5 steps  $6 states  $7 carries  $8 results
-- $9 microseconds until due  $10 versions  $11 queues  $12 priorities  $13 concurrency keys  $14 rate limit keys
-- $15 what they take  $16 when the run began, microseconds of the epoch; without it there is no line in the history
-- $17 its parent is locked and waits for it: it is marked as counted here, where its row is written anyway; see join.sql
WITH held AS MATERIALIZED (
  SELECT i.*, g.step AS from_step, g.attempt AS attempts, i.waited_for AND g.counted IS NOT TRUE AS marks,
    g.correlation_key IS NOT NULL AND g.correlation_guard IS NULL AND 'runnable' = ANY (g.correlation_scope)
      AND EXISTS (SELECT FROM {schema}.gen_durable o WHERE o.correlation_guard = g.correlation_key) AS key_taken
  FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::smallint[], $5::text[], $6::text[], $7::text[], $8::text[],
    $9::bigint[], $10::int[], $11::text[], $12::smallint[], $13::text[], $14::text[], $15::float8[], $16::bigint[], $17::boolean[])
    WITH ORDINALITY
  AS i(id, token, transitions, kind, step, state, carry, result, after_us, version, queue, priority, concurrency_key,
    rate_limit, weight, started_us, waited_for, ord)
  JOIN {schema}.gen_durable g ON g.id = ANY (ARRAY[i.id]) AND g.locked_by = i.token AND g.transitions = i.transitions
  WHERE g.status::text = 'executing' AND i.ord * 0 = 0
    AND (g.cancelled_at IS NULL OR g.shielded OR i.kind = 4)
  FOR NO KEY UPDATE OF g SKIP LOCKED
), written AS (
UPDATE {schema}.gen_durable g
SET status = CASE
      WHEN i.kind = 4 THEN 'done'::{schema}.durable_status
      WHEN i.kind = 0 AND g.cancelled_at IS NULL THEN g.status
      WHEN i.kind = 1 AND i.key_taken THEN 'failed'::{schema}.durable_status
      ELSE 'runnable'::{schema}.durable_status END,
    fsm_version = coalesce(i.version, g.fsm_version),
    step = coalesce(i.step, g.step),
    state = coalesce(i.state::jsonb, g.state),
    carry = coalesce(i.carry::jsonb, g.carry),
    result = i.result::jsonb,
    last_error = CASE WHEN i.kind = 1 AND i.key_taken THEN 'its business key has a newer occupant' END,
    queue = coalesce(i.queue, g.queue),
    priority = coalesce(i.priority, g.priority),
    concurrency_key = CASE i.kind WHEN 4 THEN g.concurrency_key ELSE i.concurrency_key END,
    rate_limit = CASE i.kind WHEN 4 THEN g.rate_limit ELSE i.rate_limit END,
    weight = CASE i.kind WHEN 4 THEN g.weight ELSE coalesce(i.weight, 1) END,
    awaits = NULL,
    await_mode = CASE i.kind WHEN 4 THEN g.await_mode END,
    await_need = CASE i.kind WHEN 4 THEN g.await_need END,
    await_groups = CASE i.kind WHEN 4 THEN g.await_groups END,
    await_deadline = NULL,
    children_pending = 0,
    counted = i.marks OR g.counted,
    children_quorum = CASE i.kind WHEN 4 THEN g.children_quorum END,
    shielded = i.kind = 4 AND g.shielded,
    expires = i.kind = 4 AND g.expires,
    exit_signals = CASE i.kind WHEN 4 THEN g.exit_signals END,
    deadline_at = CASE WHEN i.kind <> 4 THEN g.deadline_at END,
    received = NULL,
    attempt = CASE i.kind WHEN 4 THEN g.attempt ELSE 0 END,
    errors = CASE i.kind WHEN 4 THEN g.errors ELSE 0 END,
    crashes = 0,
    transitions = g.transitions + 1,
    eligible_at = CASE i.kind WHEN 0 THEN g.eligible_at WHEN 4 THEN now()
      ELSE now() + greatest(i.after_us, 0) * interval '1 microsecond' END,
    lease_expires_at = CASE i.kind WHEN 0 THEN g.lease_expires_at END,
    updated_at = CASE i.kind WHEN 0 THEN g.updated_at ELSE now() END
FROM held i
WHERE g.id = ANY (ARRAY[i.id])
RETURNING i.ord, g.status::text AS status, i.marks IS TRUE AS marks, g.id, i.transitions, i.from_step, i.attempts, i.token, i.started_us, g.last_error,
  CASE WHEN g.last_error IS NULL THEN i.step END AS to_step,
  CASE WHEN g.last_error IS NOT NULL THEN 'failed' WHEN i.kind = 4 THEN 'done' ELSE 'goto' END AS outcome
), logged AS (
  INSERT INTO {schema}.gen_durable_history (instance_id, visit, from_step, to_step, outcome, attempt, worker, started_at, error)
  SELECT w.id, w.transitions, w.from_step, w.to_step, w.outcome, w.attempts, w.token,
    to_timestamp(w.started_us / 1000000.0), w.last_error
  FROM written w WHERE w.started_us IS NOT NULL ORDER BY w.ord
)
SELECT array_agg(written.ord) AS ords, array_agg(written.status) AS statuses, array_agg(written.marks) AS marks FROM written
