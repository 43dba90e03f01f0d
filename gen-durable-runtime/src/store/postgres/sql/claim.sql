-- Leases up to $2 due rows of one queue, most urgent first, and says when the next one is due.
--
-- Index: gen_durable_pick, walked in order, so that LIMIT stops after the batch. The look at busy keys is a
-- probe of gen_durable_concurrency_active with LIMIT 1: a plain NOT EXISTS would hash every executing row.
-- Lock: NO KEY UPDATE, SKIP LOCKED: it never waits, so it cannot deadlock. The rows are updated by ctid; one
-- whose row moved since the snapshot is missed and taken by the next claim.
-- A K = 1 key is arbitrated by the unique index: the loser's claim fails as a whole and is taken again.
--
-- $1 queue  $2 limit  $3 known machines  $4 their versions  $5 their steps  $6 rows that crashed before are welcome
-- $7 token  $8 lease in microseconds
WITH due AS MATERIALIZED (
  SELECT g.ctid AS tid, g.id, g.priority, g.eligible_at, g.concurrency_key, g.crashes
  FROM {schema}.gen_durable g
  WHERE g.queue = $1
    AND g.status = 'runnable'
    AND g.eligible_at <= now()
    AND ((g.fsm, g.fsm_version, g.step) IN (SELECT * FROM unnest($3::text[], $4::int[], $5::text[]))) IS TRUE
    AND (g.crashes = 0 OR $6)
    AND (g.concurrency_key IS NULL OR (
      SELECT true FROM {schema}.gen_durable b
      WHERE b.concurrency_key = g.concurrency_key AND b.status = 'executing' AND b.concurrency_shard IS NULL
      LIMIT 1) IS NULL)
  ORDER BY g.priority, g.eligible_at
  LIMIT $2
  FOR NO KEY UPDATE OF g SKIP LOCKED
), chosen AS (
  -- One row a key, and one row that crashed before.
  SELECT d.tid FROM (
    SELECT due.tid, due.concurrency_key, due.crashes,
      row_number() OVER (PARTITION BY due.concurrency_key ORDER BY due.priority, due.eligible_at, due.id) AS of_key,
      row_number() OVER (PARTITION BY due.crashes > 0 ORDER BY due.priority, due.eligible_at, due.id) AS of_kind
    FROM due) d
  WHERE (d.concurrency_key IS NULL OR d.of_key = 1) AND (d.crashes = 0 OR d.of_kind = 1)
), taken AS (
  UPDATE {schema}.gen_durable g
  SET status = 'executing',
      locked_by = $7,
      lease_expires_at = now() + $8 * interval '1 microsecond',
      concurrency_shard = NULL,
      updated_at = now(),
      -- What ends the wait is settled once; every retry of the visit sees the same.
      received = CASE
        WHEN g.awaits IS NULL OR g.received IS NOT NULL THEN g.received
        ELSE coalesce(
          (SELECT ARRAY[s.id] FROM {schema}.signals s
           WHERE s.target_id = g.id AND s.consumed_at IS NULL AND s.name = ANY (g.awaits)
           ORDER BY s.id LIMIT 1),
          CASE WHEN g.await_deadline <= now() THEN '{}'::bigint[] END)
      END
  WHERE g.ctid = ANY (ARRAY(SELECT tid FROM chosen))
  RETURNING g.id, g.fsm, g.fsm_version, g.step, g.state::text AS state, g.carry::text AS carry,
    g.attempt, g.errors, g.crashes, g.transitions, g.priority, g.home_queue, g.home_priority, g.concurrency_key,
    g.awaits IS NOT NULL AS waited, g.received IS NOT NULL AS settled,
    CASE WHEN g.received <> '{}' THEN (
      SELECT json_agg(json_build_array(s.id, s.name, s.payload) ORDER BY s.id)::text
      FROM {schema}.signals s WHERE s.id = ANY (g.received)) END AS signals
)
SELECT t.*,
  (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now_us,
  (extract(epoch FROM w.due) * 1000000)::bigint AS due_us,
  (extract(epoch FROM w.deadline) * 1000000)::bigint AS deadline_us
FROM (
  SELECT
    CASE WHEN c.short THEN (
      -- The next due row of each priority, by a loose scan of gen_durable_pick.
      SELECT min((SELECT g.eligible_at FROM {schema}.gen_durable g
                  WHERE g.queue = $1 AND g.status = 'runnable' AND g.priority = p.priority AND g.eligible_at > now()
                  ORDER BY g.eligible_at LIMIT 1))
      FROM (
        WITH RECURSIVE levels AS (
          (SELECT g.priority FROM {schema}.gen_durable g
           WHERE g.queue = $1 AND g.status = 'runnable' ORDER BY g.priority LIMIT 1)
          UNION ALL
          SELECT (SELECT g.priority FROM {schema}.gen_durable g
                  WHERE g.queue = $1 AND g.status = 'runnable' AND g.priority > levels.priority
                  ORDER BY g.priority LIMIT 1)
          FROM levels WHERE levels.priority IS NOT NULL)
        SELECT levels.priority FROM levels WHERE levels.priority IS NOT NULL) p) END AS due,
    CASE WHEN c.short THEN (
      -- The next wait whose time is up, in any queue: whoever is awake ends it.
      SELECT g.await_deadline FROM {schema}.gen_durable g
      WHERE g.status = 'awaiting_signal' AND g.await_deadline IS NOT NULL
      ORDER BY g.await_deadline LIMIT 1) END AS deadline
  FROM (SELECT (SELECT count(*) FROM taken) < $2 AS short) c) w
LEFT JOIN taken t ON true
