-- Writes a batch of outcomes. A row that lost its claim, or that someone else holds, is not among the numbers returned.
-- The commonest ones go by commit_plain.sql: what is said here of their columns is said there too.
--
-- Index: the primary key. The guard on the status is cast to text, so that gen_durable_lease cannot serve it: a
-- plan driven from there costs the square of the batch when statistics say that nothing executes.
-- `id = ANY (ARRAY[..])` is a join that nothing but a look by the index can serve: with `id = ..` an ordered walk over the whole
-- table is a way as well, the cheapest while statistics say that the table is empty, and such a plan is kept when it is large.
-- `ord * 0 = 0` is always true and tells the planner to expect one row, so that it begins with the batch.
-- Lock: NO KEY UPDATE, SKIP LOCKED: a batch never waits for a row.
-- kind: 0 on in place (touches no indexed column)  1 on, requeued  2 on, parked  3 retry  4 done  5 fail
--       6 parked again  7 claim given back  8 on, waiting for its children
--
-- Counters stop at the end of their type: a step may retry for ever.
--
-- $1 ids  $2 tokens  $3 transitions  $4 kinds  $5 steps  $6 states  $7 carries  $8 results  $9 errors
-- $10 microseconds until due  $11 due at, microseconds of the epoch  $12 versions  $13 queues  $14 priorities
-- $15 concurrency keys  $16 awaited names, an array each as text  $17 the signals that the batch consumes
-- $18 await_mode  $19 await_need  $20 await_groups, an array each as text  $21 children inserted  $22 children_quorum
-- $25 it is what a cancel asks for  $26 the step entered is shielded: of a cancelled row only an end is written, what a
-- cancel asks for, and what leaves a shielded step, after which it goes on nowhere
-- $27 the machine's deadline leaves the step at which the row stands from now on  $28 signals that leave it, an array each as
-- text: with one of them in the inbox, or the deadline passed, the row is due at once, and 'leaves' is its status here
-- $29 it is what the deadline leads to  $30 rate limit keys  $31 what they take
-- $23 when the run began, microseconds of the epoch  $24 what the history calls it
WITH held AS MATERIALIZED (
  SELECT i.*, g.step AS from_step, g.attempt AS attempts, coalesce(to_timestamp(i.at_us / 1000000.0), now() + i.after_us * interval '1 microsecond') AS due,
    -- Only a row with a foreign scope, that gave its key up while it executed, can meet a newer occupant.
    g.correlation_key IS NOT NULL AND g.correlation_guard IS NULL AND 'runnable' = ANY (g.correlation_scope)
      AND EXISTS (SELECT FROM {schema}.gen_durable o WHERE o.correlation_guard = g.correlation_key) AS key_taken,
    CASE WHEN NOT i.expires AND i.exit_signals IS NULL OR g.cancelled_at IS NOT NULL THEN false
      WHEN i.expires AND g.expired_at IS NOT NULL AND NOT i.takes_deadline THEN true
      WHEN i.exit_signals IS NULL THEN false
      ELSE EXISTS (
        SELECT FROM {schema}.signals s
        WHERE s.target_id = g.id AND s.consumed_at IS NULL AND s.id <> ALL ($17)
          AND s.name = ANY (i.exit_signals::text[])) END AS leaves
  FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::smallint[], $5::text[], $6::text[], $7::text[],
    $8::text[], $9::text[], $10::bigint[], $11::bigint[], $12::int[], $13::text[], $14::smallint[], $15::text[],
    $16::text[], $18::smallint[], $19::int[], $20::text[], $21::int[], $22::int[],
    $23::bigint[], $24::text[], $25::boolean[], $26::boolean[], $27::boolean[], $28::text[],
    $29::boolean[], $30::text[], $31::float8[]) WITH ORDINALITY
  AS i(id, token, transitions, kind, step, state, carry, result, error, after_us, at_us, version, queue, priority,
    concurrency_key, awaits, await_mode, await_need, await_groups, children, quorum, started_us, outcome, cancels, shielded,
    expires, exit_signals, takes_deadline,
    rate_limit, weight, ord)
  JOIN {schema}.gen_durable g ON g.id = ANY (ARRAY[i.id]) AND g.locked_by = i.token AND g.transitions = i.transitions
  WHERE g.status::text = 'executing' AND i.ord * 0 = 0
    AND (g.cancelled_at IS NULL OR g.shielded OR i.cancels OR i.kind IN (4, 5, 7))
  FOR NO KEY UPDATE OF g SKIP LOCKED
), written AS (
UPDATE {schema}.gen_durable g
SET status = CASE
      WHEN i.kind IN (0, 2, 8) AND g.cancelled_at IS NOT NULL AND NOT i.shielded THEN 'runnable'::{schema}.durable_status
      WHEN i.kind IN (0, 2, 6, 8) AND i.leaves THEN 'runnable'::{schema}.durable_status
      WHEN i.kind = 0 THEN g.status
      WHEN i.kind = 4 THEN 'done'::{schema}.durable_status
      WHEN i.kind = 5 OR i.key_taken THEN 'failed'::{schema}.durable_status
      WHEN i.kind IN (1, 3, 7) THEN 'runnable'::{schema}.durable_status
      WHEN i.kind = 8 AND i.children >= coalesce(i.quorum, 1) AND coalesce(i.quorum, 1) > 0 THEN 'awaiting_children'::{schema}.durable_status
      WHEN i.kind = 8 THEN 'runnable'::{schema}.durable_status
      WHEN (CASE WHEN i.kind = 2 THEN i.due ELSE g.await_deadline END) <= now()
        THEN 'runnable'::{schema}.durable_status
      WHEN (CASE WHEN i.kind = 2 THEN i.await_mode ELSE g.await_mode END) IS NULL AND EXISTS (
        SELECT FROM {schema}.signals s
        WHERE s.target_id = g.id AND s.consumed_at IS NULL AND s.id <> ALL ($17)
          AND s.name = ANY (CASE WHEN i.kind = 2 THEN i.awaits::text[] ELSE g.awaits END))
        THEN 'runnable'::{schema}.durable_status
      WHEN (CASE WHEN i.kind = 2 THEN i.await_mode ELSE g.await_mode END) IS NOT NULL AND (
        -- One of each group, or so many.
        SELECT CASE WHEN (CASE WHEN i.kind = 2 THEN i.await_mode ELSE g.await_mode END) = 2
          THEN count(DISTINCT w.of) ELSE count(*) END
        FROM unnest(CASE WHEN i.kind = 2 THEN i.awaits::text[] ELSE g.awaits END,
          CASE WHEN i.kind = 2 THEN i.await_groups::bigint[] ELSE g.await_groups END) AS w(name, of)
        JOIN {schema}.signals s ON s.target_id = g.id AND s.consumed_at IS NULL AND s.name = w.name
          AND s.id <> ALL ($17)) >= CASE WHEN i.kind = 2 THEN i.await_need ELSE g.await_need END
        THEN 'runnable'::{schema}.durable_status
      ELSE 'awaiting_signal'::{schema}.durable_status
    END,
    fsm_version = coalesce(i.version, g.fsm_version),
    step = coalesce(i.step, g.step),
    state = coalesce(i.state::jsonb, g.state),
    carry = coalesce(i.carry::jsonb, g.carry),
    result = i.result::jsonb,
    last_error = CASE WHEN i.key_taken AND i.kind NOT IN (0, 4, 5) THEN 'its business key has a newer occupant'
      WHEN i.kind IN (6, 7) THEN g.last_error
      WHEN i.cancels AND g.cancel_reason <> '' THEN i.error || ': ' || g.cancel_reason ELSE i.error END,
    queue = coalesce(i.queue, g.queue),
    priority = coalesce(i.priority, g.priority),
    concurrency_key = CASE WHEN i.kind IN (0, 1, 2, 8) THEN i.concurrency_key ELSE g.concurrency_key END,
    rate_limit = CASE WHEN i.kind IN (0, 1, 2, 8) THEN i.rate_limit ELSE g.rate_limit END,
    weight = CASE WHEN i.kind IN (0, 1, 2, 8) THEN coalesce(i.weight, 1) ELSE g.weight END,
    awaits = CASE WHEN i.kind IN (0, 1, 2, 8) THEN i.awaits::text[] WHEN i.kind = 4 THEN NULL ELSE g.awaits END,
    await_mode = CASE WHEN i.kind IN (0, 1, 2, 8) THEN i.await_mode ELSE g.await_mode END,
    await_need = CASE WHEN i.kind IN (0, 1, 2, 8) THEN i.await_need ELSE g.await_need END,
    await_groups = CASE WHEN i.kind IN (0, 1, 2, 8) THEN i.await_groups::bigint[] ELSE g.await_groups END,
    children_pending = CASE WHEN i.kind = 8 THEN i.children WHEN i.kind IN (3, 6, 7) THEN g.children_pending ELSE 0 END,
    children_done = CASE WHEN i.kind = 8 THEN 0 ELSE g.children_done END,
    children_quorum = CASE WHEN i.kind IN (0, 1, 2, 8) THEN i.quorum ELSE g.children_quorum END,
    shielded = CASE WHEN i.kind IN (0, 1, 2, 8) THEN i.shielded ELSE g.shielded END,
    expires = CASE WHEN i.kind IN (4, 5, 7) THEN g.expires ELSE i.expires END,
    exit_signals = CASE WHEN i.kind IN (4, 5, 7) THEN g.exit_signals ELSE i.exit_signals::text[] END,
    -- What ended has none: its index holds only what may still expire.
    expired_at = CASE WHEN i.takes_deadline THEN NULL ELSE g.expired_at END,
    deadline_at = CASE WHEN i.kind IN (4, 5) THEN NULL ELSE g.deadline_at END,
    await_deadline = CASE WHEN i.kind IN (2, 8) THEN i.due WHEN i.kind IN (0, 1, 4) THEN NULL ELSE g.await_deadline END,
    received = CASE WHEN i.kind IN (3, 5, 7) THEN g.received END,
    attempt = CASE WHEN i.kind IN (0, 1, 2, 8) THEN 0 WHEN i.kind = 3 THEN least(g.attempt, 2147483646) + 1 ELSE g.attempt END,
    errors = CASE WHEN i.kind IN (0, 1, 2, 8) THEN 0 WHEN i.kind = 3 AND i.error IS NOT NULL THEN least(g.errors, 2147483646) + 1
      ELSE g.errors END,
    crashes = CASE WHEN i.kind IN (0, 1, 2, 4, 8) THEN 0 ELSE g.crashes END,
    transitions = g.transitions + CASE WHEN i.kind IN (0, 1, 2, 4, 8) THEN 1 ELSE 0 END,
    eligible_at = CASE WHEN i.kind IN (1, 3) AND NOT i.leaves THEN greatest(i.due, now())
      WHEN i.kind IN (0, 7) THEN g.eligible_at ELSE now() END,
    lease_expires_at = CASE WHEN i.kind = 0 THEN g.lease_expires_at END,
    updated_at = CASE WHEN i.kind = 0 THEN g.updated_at ELSE now() END
FROM held i
WHERE g.id = ANY (ARRAY[i.id])
RETURNING i.ord, CASE WHEN i.leaves AND g.status = 'runnable' THEN 'leaves' ELSE g.status::text END AS status, g.id, i.transitions, i.from_step, i.attempts,
  CASE WHEN i.key_taken AND i.kind NOT IN (0, 4, 5) THEN NULL ELSE i.step END AS to_step,
  CASE WHEN i.key_taken AND i.kind NOT IN (0, 4, 5) THEN 'failed' ELSE i.outcome END AS outcome,
  i.token, i.started_us, g.last_error
), logged AS (
  INSERT INTO {schema}.gen_durable_history (instance_id, visit, from_step, to_step, outcome, attempt, worker, started_at, error)
  SELECT w.id, w.transitions, w.from_step, w.to_step, w.outcome, w.attempts, w.token,
    to_timestamp(w.started_us / 1000000.0), w.last_error
  FROM written w WHERE w.started_us IS NOT NULL ORDER BY w.ord
)
SELECT array_agg(written.ord) AS ords, array_agg(written.status) AS statuses,
  NULL::boolean[] AS marks FROM written
