-- Delivers signals; answers for each input, in order.
--
-- Takes each target's row lock, without waiting, and wakes it if it waits for that name: a park in progress
-- holds the same lock, so one of the two always sees the other. Whoever lives and is held by someone else is busy: whoever asked
-- waits for the lock (hold_targets.sql) and delivers again. Who waits for several signals is written by every delivery
-- that brings one of them: a delivery whose snapshot is older than the lock of the one before it does not see
-- its signal, and knows by the row's version; it then wakes, and the claim looks again. A signal that leaves the step
-- wakes whatever does not execute; what executes finds it when it commits.
-- Index: the primary key, or gen_durable_correlation for a key; the unique dedup key of signals.
-- $1 ids  $2 business keys  $3 names  $4 payloads  $5 dedup keys
-- $6 the table's quoted name  $7 all or none: nothing is delivered while one is busy
-- At most 200 at once: the joins of the batch with itself cost its square.
WITH ids AS MATERIALIZED (
  SELECT pg_get_serial_sequence($6, 'id')::regclass AS source
), input AS MATERIALIZED (
  SELECT i.name, i.payload, i.dedup, i.ord, nextval((SELECT source FROM ids)) AS signal,
    coalesce(i.id, (SELECT k.id FROM {schema}.gen_durable k WHERE k.correlation_guard = i.key)) AS id
  FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) WITH ORDINALITY
  AS i(id, key, name, payload, dedup, ord)
), target AS MATERIALIZED (
  SELECT g.id, g.status, g.awaits, g.await_mode, g.await_need, g.await_groups, g.queue,
    CASE WHEN g.status::text <> 'executing' AND g.cancelled_at IS NULL THEN g.exit_signals END AS exit_signals,
    g.xmin AS version FROM {schema}.gen_durable g
  WHERE g.id = ANY (ARRAY(SELECT input.id FROM input)) AND g.status::text NOT IN ('done', 'failed')
  FOR NO KEY UPDATE OF g SKIP LOCKED
), busy AS MATERIALIZED (
  SELECT i.ord FROM input i
  WHERE i.id NOT IN (SELECT target.id FROM target)
    AND (SELECT g.status::text NOT IN ('done', 'failed') FROM {schema}.gen_durable g WHERE g.id = i.id)
), delivered AS (
  INSERT INTO {schema}.signals (id, target_id, name, payload, dedup_key)
  OVERRIDING SYSTEM VALUE
  SELECT i.signal, t.id, i.name, i.payload::jsonb, i.dedup
  FROM input i JOIN target t ON t.id = i.id
  WHERE NOT ($7 AND EXISTS (SELECT FROM busy))
  ORDER BY i.ord
  ON CONFLICT (target_id, dedup_key) DO NOTHING
  RETURNING id, target_id, name
), matched AS (
  SELECT t.id, t.await_mode IS NULL
    OR EXISTS (SELECT FROM delivered d WHERE d.target_id = t.id AND d.name = ANY (t.exit_signals))
    OR t.version IS DISTINCT FROM (SELECT o.xmin FROM {schema}.gen_durable o WHERE o.id = t.id)
    OR (
      -- One of each group, or so many: what was there, and what came now, which no snapshot of this statement has.
      SELECT CASE WHEN t.await_mode = 2 THEN count(DISTINCT w.of) ELSE count(*) END
      FROM unnest(t.awaits, t.await_groups) AS w(name, of)
      JOIN (
        SELECT s.name FROM {schema}.signals s WHERE s.target_id = t.id AND s.consumed_at IS NULL
        UNION ALL
        SELECT d.name FROM delivered d WHERE d.target_id = t.id) s ON s.name = w.name) >= t.await_need AS is_over
  FROM target t
  WHERE EXISTS (
    SELECT FROM delivered d WHERE d.target_id = t.id
      AND (t.status = 'awaiting_signal' AND d.name = ANY (t.awaits) OR d.name = ANY (t.exit_signals)))
), woken AS (
  UPDATE {schema}.gen_durable g
  SET status = CASE WHEN m.is_over THEN 'runnable'::{schema}.durable_status ELSE g.status END,
      eligible_at = CASE WHEN NOT m.is_over THEN g.eligible_at
        WHEN g.status = 'runnable' THEN least(g.eligible_at, now()) ELSE now() END,
      updated_at = CASE WHEN m.is_over THEN now() ELSE g.updated_at END
  FROM matched m
  WHERE g.id = ANY (ARRAY[m.id]) AND m.id * 0 = 0 -- expects one row: see commit.sql
  RETURNING g.id, m.is_over
)
SELECT array_agg(t.id ORDER BY i.ord) AS targets, array_agg(d.id IS NOT NULL ORDER BY i.ord) AS new,
  array_agg(i.ord IN (SELECT busy.ord FROM busy) ORDER BY i.ord) AS busy,
  -- Runnable already: a claim may have skipped it while this held its lock.
  array_agg(CASE WHEN w.id IS NOT NULL OR t.status = 'runnable' THEN t.queue END ORDER BY i.ord) AS wakes,
  pg_current_xact_id()::text AS xid
FROM input i
LEFT JOIN target t ON t.id = i.id
LEFT JOIN delivered d ON d.id = i.signal
LEFT JOIN woken w ON w.id = t.id AND w.is_over
