-- Writes a batch of outcomes. A row that lost its claim is not returned.
--
-- Index: the primary key; `+` keeps the status from being looked up in gen_durable_lease.
-- kind: 0 on in place (touches no indexed column)  1 on, requeued  2 on, parked  3 retry  4 done  5 fail
--       6 parked again  7 claim given back  8 on, waiting for its children
--
-- Counters stop at the end of their type on Postgres: a step may retry for ever.
--
-- ?1 the batch: [[id, token, transitions, kind, step, state, carry, result, error, microseconds until due, due at,
--    version, queue, priority, concurrency key, awaited names as JSON, await_mode, await_need, await_groups as JSON, children
--    inserted, children_quorum, it is what a cancel asks for, the step entered is shielded, the machine's deadline
--    leaves the step at which the row stands from now on, signals that leave it as JSON, it is what the deadline
--    leads to, rate limit key, what it takes], ..]
--    With such a signal in the inbox, or the deadline passed, the row is due at once. 'leaves' is the status here of what is
--    due and may leave.
--    Of a cancelled row only an end is written, what a cancel asks for, and what leaves a shielded step.
-- ?2 now  ?3 the signals that the batch consumes
-- Materialized twice: json_each writes a row's text anew at each mention of its value, and an update takes a column out of
-- that text at each mention of the column.
WITH r AS MATERIALIZED (SELECT value AS v FROM json_each(?1)),
i AS MATERIALIZED (
  SELECT v ->> 0 AS id, v ->> 1 AS token, v ->> 2 AS transitions, v ->> 3 AS kind, v ->> 4 AS step,
    v ->> 5 AS state, v ->> 6 AS carry, v ->> 7 AS result, v ->> 8 AS error,
    coalesce(v ->> 10, ?2 + (v ->> 9)) AS due, v ->> 11 AS version, v ->> 12 AS queue,
    v ->> 13 AS priority, v ->> 14 AS concurrency_key, v ->> 15 AS awaits, v ->> 16 AS await_mode,
    v ->> 17 AS await_need, v ->> 18 AS await_groups, v ->> 19 AS children, v ->> 20 AS quorum,
    v ->> 21 AS cancels, v ->> 22 AS shielded, v ->> 23 AS expires, v ->> 24 AS exit_signals,
    v ->> 25 AS takes_deadline, v ->> 26 AS rate_limit, v ->> 27 AS weight,
    CASE WHEN (v ->> 23) = 0 AND (v ->> 24) IS NULL THEN 0 ELSE EXISTS (
      SELECT 1 FROM gen_durable h WHERE h.id = v ->> 0 AND h.cancelled_at IS NULL
        AND (((v ->> 23) AND h.expired_at IS NOT NULL AND NOT (v ->> 25)) OR EXISTS (
          SELECT 1 FROM signals s
          WHERE s.target_id = h.id AND s.consumed_at IS NULL AND s.id NOT IN (SELECT c.value FROM json_each(?3) AS c)
            AND s.name IN (SELECT n.value FROM json_each(v ->> 24) AS n)))) END AS leaves,
    -- Only a row with a foreign scope, that gave its key up while it executed, can meet a newer occupant.
    EXISTS (
      SELECT 1 FROM gen_durable h JOIN gen_durable o ON o.correlation_guard = h.correlation_key
      WHERE h.id = v ->> 0 AND h.correlation_key IS NOT NULL AND h.correlation_guard IS NULL
        AND instr(h.correlation_scope, '"runnable"') > 0) AS key_taken
  FROM r
)
UPDATE gen_durable AS g NOT INDEXED
SET status = CASE
      WHEN i.kind IN (0, 2, 8) AND g.cancelled_at IS NOT NULL AND NOT i.shielded THEN 'runnable'
      WHEN i.kind IN (0, 2, 6, 8) AND i.leaves THEN 'runnable'
      WHEN i.kind = 0 THEN g.status
      WHEN i.kind = 4 THEN 'done'
      WHEN i.kind = 5 OR i.key_taken THEN 'failed'
      WHEN i.kind IN (1, 3, 7) THEN 'runnable'
      WHEN i.kind = 8 AND i.children >= coalesce(i.quorum, 1) AND coalesce(i.quorum, 1) > 0 THEN 'awaiting_children'
      WHEN i.kind = 8 THEN 'runnable'
      WHEN (CASE WHEN i.kind = 2 THEN i.due ELSE g.await_deadline END) <= ?2 THEN 'runnable'
      WHEN (CASE WHEN i.kind = 2 THEN i.await_mode ELSE g.await_mode END) IS NULL AND EXISTS (
        SELECT 1 FROM signals s
        WHERE s.target_id = g.id AND s.consumed_at IS NULL AND s.id NOT IN (SELECT value FROM json_each(?3))
          AND s.name IN (SELECT value FROM json_each(CASE WHEN i.kind = 2 THEN i.awaits ELSE g.awaits END)))
        THEN 'runnable'
      WHEN (CASE WHEN i.kind = 2 THEN i.await_mode ELSE g.await_mode END) IS NOT NULL AND (
        -- One of each group, or so many.
        SELECT CASE WHEN (CASE WHEN i.kind = 2 THEN i.await_mode ELSE g.await_mode END) = 2
          THEN count(DISTINCT (CASE WHEN i.kind = 2 THEN i.await_groups ELSE g.await_groups END) ->> w.key)
          ELSE count(*) END
        FROM json_each(CASE WHEN i.kind = 2 THEN i.awaits ELSE g.awaits END) AS w
        JOIN signals s ON s.target_id = g.id AND s.consumed_at IS NULL AND s.name = w.value
          AND s.id NOT IN (SELECT value FROM json_each(?3))
        ) >= CASE WHEN i.kind = 2 THEN i.await_need ELSE g.await_need END
        THEN 'runnable'
      ELSE 'awaiting_signal'
    END,
    fsm_version = coalesce(i.version, g.fsm_version),
    step = coalesce(i.step, g.step),
    state = coalesce(i.state, g.state),
    carry = coalesce(i.carry, g.carry),
    result = i.result,
    last_error = CASE WHEN i.key_taken AND i.kind NOT IN (0, 4, 5) THEN 'its business key has a newer occupant'
      WHEN i.kind IN (6, 7) THEN g.last_error
      WHEN i.cancels AND g.cancel_reason <> '' THEN i.error || ': ' || g.cancel_reason ELSE i.error END,
    queue = coalesce(i.queue, g.queue),
    priority = coalesce(i.priority, g.priority),
    concurrency_key = CASE WHEN i.kind IN (0, 1, 2, 8) THEN i.concurrency_key ELSE g.concurrency_key END,
    rate_limit = CASE WHEN i.kind IN (0, 1, 2, 8) THEN i.rate_limit ELSE g.rate_limit END,
    weight = CASE WHEN i.kind IN (0, 1, 2, 8) THEN coalesce(i.weight, 1.0) ELSE g.weight END,
    awaits = CASE WHEN i.kind IN (0, 1, 2, 8) THEN i.awaits WHEN i.kind = 4 THEN NULL ELSE g.awaits END,
    await_mode = CASE WHEN i.kind IN (0, 1, 2, 8) THEN i.await_mode ELSE g.await_mode END,
    await_need = CASE WHEN i.kind IN (0, 1, 2, 8) THEN i.await_need ELSE g.await_need END,
    await_groups = CASE WHEN i.kind IN (0, 1, 2, 8) THEN i.await_groups ELSE g.await_groups END,
    children_pending = CASE WHEN i.kind = 8 THEN i.children WHEN i.kind IN (3, 6, 7) THEN g.children_pending ELSE 0 END,
    children_done = CASE WHEN i.kind = 8 THEN 0 ELSE g.children_done END,
    children_quorum = CASE WHEN i.kind IN (0, 1, 2, 8) THEN i.quorum ELSE g.children_quorum END,
    shielded = CASE WHEN i.kind IN (0, 1, 2, 8) THEN i.shielded ELSE g.shielded END,
    expires = CASE WHEN i.kind IN (4, 5, 7) THEN g.expires ELSE i.expires END,
    exit_signals = CASE WHEN i.kind IN (4, 5, 7) THEN g.exit_signals ELSE i.exit_signals END,
    -- What ended has none: its index holds only what may still expire.
    expired_at = CASE WHEN i.takes_deadline THEN NULL ELSE g.expired_at END,
    deadline_at = CASE WHEN i.kind IN (4, 5) THEN NULL ELSE g.deadline_at END,
    await_deadline = CASE WHEN i.kind IN (2, 8) THEN i.due WHEN i.kind IN (0, 1, 4) THEN NULL ELSE g.await_deadline END,
    received = CASE WHEN i.kind IN (3, 5, 7) THEN g.received END,
    attempt = CASE WHEN i.kind IN (0, 1, 2, 8) THEN 0 WHEN i.kind = 3 THEN min(g.attempt, 2147483646) + 1 ELSE g.attempt END,
    errors = CASE WHEN i.kind IN (0, 1, 2, 8) THEN 0 WHEN i.kind = 3 AND i.error IS NOT NULL THEN min(g.errors, 2147483646) + 1
      ELSE g.errors END,
    crashes = CASE WHEN i.kind IN (0, 1, 2, 4, 8) THEN 0 ELSE g.crashes END,
    transitions = g.transitions + CASE WHEN i.kind IN (0, 1, 2, 4, 8) THEN 1 ELSE 0 END,
    eligible_at = CASE WHEN i.kind IN (1, 3) AND NOT i.leaves THEN max(i.due, ?2)
      WHEN i.kind IN (0, 7) THEN g.eligible_at ELSE ?2 END,
    lease_expires_at = CASE WHEN i.kind = 0 THEN g.lease_expires_at END,
    updated_at = CASE WHEN i.kind = 0 THEN g.updated_at ELSE ?2 END
FROM i
WHERE g.id = i.id AND g.locked_by = i.token AND g.transitions = i.transitions AND +g.status = 'executing'
  AND (g.cancelled_at IS NULL OR g.shielded OR i.cancels OR i.kind IN (4, 5, 7))
RETURNING json_array(id, locked_by,
  CASE WHEN status = 'runnable' AND eligible_at <= ?2 AND (expires OR exit_signals IS NOT NULL) THEN 'leaves' ELSE status END)
  AS written
