-- Leases up to $2 due rows of one queue, most urgent first; when there are none, says when the next one is due: whoever has work waits
-- for no such look.
--
-- Index: gen_durable_pick, a descent for each priority and then in order, so that LIMIT stops after the batch. The look at busy keys is a
-- probe of gen_durable_concurrency_active with LIMIT 1: a plain NOT EXISTS would hash every executing row.
-- Lock: NO KEY UPDATE, SKIP LOCKED: it waits for no row. The rows are updated by ctid; one whose row moved since the
-- snapshot is missed and taken by the next claim.
-- A K = 1 key is arbitrated by the unique index: the loser's claim fails as a whole and is taken again. An insertion
-- into a unique index waits for another's, in no order, so claims would deadlock: a key that another claim is
-- taking right now is left to it, by a try-lock. At most 100 keys a claim: each is an entry of the lock table.
--
-- $1 queue  $2 limit  $3 known machines  $4 their versions  $5 their steps  $6 a row that crashed twice before is welcome
-- $7 token  $8 lease in microseconds  $9 which of the steps bound their wait: where the deadline is gone nevertheless, another
-- engine's sweep has ended the wait, and took it along  $10 look whether many rows wait for busy keys, or
-- are of unknown code
--
-- Rows under a rate limit or a gate are not taken here, and told: a claim under limits decides on them (candidates.sql).
-- Not flushed: a claim that a crash of the server takes along is a lost lease, and its token passes no fence.
WITH RECURSIVE unflushed AS MATERIALIZED (
  SELECT set_config('synchronous_commit', 'off', true)
), levels AS (
  -- The priorities that have rows: neither a backlog that is due later nor rows that were set aside are walked.
  (SELECT g.priority FROM {schema}.gen_durable g
   WHERE g.queue = $1 AND g.status = 'runnable' ORDER BY g.priority LIMIT 1)
  UNION ALL
  SELECT (SELECT g.priority FROM {schema}.gen_durable g
          WHERE g.queue = $1 AND g.status = 'runnable' AND g.priority > levels.priority
          ORDER BY g.priority LIMIT 1)
  FROM levels WHERE levels.priority IS NOT NULL
), due AS MATERIALIZED (
  SELECT d.* FROM levels CROSS JOIN LATERAL (
    SELECT g.ctid AS tid, g.id, g.priority, g.eligible_at, g.concurrency_key, g.crashes,
      g.rate_limit IS NOT NULL OR (g.concurrency_key IS NOT NULL AND EXISTS (
        SELECT FROM {schema}.gen_durable_bucket_configs c
        WHERE c.kind = 'conc' AND c.name = g.concurrency_name)) AS limited
    FROM {schema}.gen_durable g
    WHERE g.queue = $1
      AND g.status = 'runnable'
      AND g.priority = levels.priority
      AND g.eligible_at <= now()
      AND ((g.fsm, g.fsm_version, g.step) IN (SELECT * FROM unnest($3::text[], $4::int[], $5::text[]))) IS TRUE
      AND (g.crashes <= 1 OR $6)
      AND (g.concurrency_key IS NULL OR (
        SELECT true FROM {schema}.gen_durable b
        WHERE b.concurrency_key = g.concurrency_key AND b.status = 'executing' AND b.concurrency_shard IS NULL
        LIMIT 1) IS NULL)
    ORDER BY g.eligible_at
    LIMIT $2
    FOR NO KEY UPDATE OF g SKIP LOCKED) d
  LIMIT $2
), first AS (
  -- Those with keys or two crashes: one row a key, and one row that crashed twice before.
  SELECT d.tid, d.concurrency_key,
    row_number() OVER (PARTITION BY d.concurrency_key IS NULL ORDER BY d.priority, d.eligible_at, d.id) AS nth
  FROM (
    SELECT due.*,
      row_number() OVER (PARTITION BY due.concurrency_key ORDER BY due.priority, due.eligible_at, due.id) AS of_key,
      row_number() OVER (PARTITION BY due.crashes > 1 ORDER BY due.priority, due.eligible_at, due.id) AS of_kind
    FROM due WHERE NOT due.limited AND (due.concurrency_key IS NOT NULL OR due.crashes > 1)) d
  WHERE (d.concurrency_key IS NULL OR d.of_key = 1) AND (d.crashes <= 1 OR d.of_kind = 1)
), chosen AS MATERIALIZED (
  SELECT due.tid FROM due WHERE NOT due.limited AND due.concurrency_key IS NULL AND due.crashes <= 1
  UNION ALL
  SELECT first.tid FROM first
  WHERE CASE WHEN first.concurrency_key IS NULL THEN true
    WHEN first.nth > 100 THEN false
    ELSE pg_try_advisory_xact_lock(1734700645, hashtext(first.concurrency_key)) END
), taken AS (
  UPDATE {schema}.gen_durable g
  SET status = 'executing',
      locked_by = $7,
      lease_expires_at = now() + $8 * interval '1 microsecond',
      concurrency_shard = NULL,
      blocked_by = NULL,
      due_at = NULL,
      updated_at = now(),
      -- What ends the wait is settled once; every retry of the visit sees the same.
      received = CASE
        WHEN g.awaits IS NULL OR g.received IS NOT NULL THEN g.received
        WHEN g.await_mode IS NULL THEN coalesce(
          (SELECT ARRAY[s.id] FROM {schema}.signals s
           WHERE s.target_id = g.id AND s.consumed_at IS NULL AND s.name = ANY (g.awaits)
           ORDER BY s.id LIMIT 1),
          CASE WHEN g.await_deadline <= now() OR (g.await_deadline IS NULL AND (g.fsm, g.fsm_version, g.step) IN (
              SELECT k.fsm, k.version, k.step FROM unnest($3::text[], $4::int[], $5::text[], $9::boolean[])
              AS k(fsm, version, step, timed) WHERE k.timed)) THEN '{}'::bigint[] END)
        -- Several: the oldest of each group, or the oldest ones. At the deadline what has come.
        ELSE (
          SELECT CASE WHEN count(*) >= g.await_need OR g.await_deadline <= now()
              OR (g.await_deadline IS NULL AND (g.fsm, g.fsm_version, g.step) IN (
                SELECT k.fsm, k.version, k.step FROM unnest($3::text[], $4::int[], $5::text[], $9::boolean[])
                AS k(fsm, version, step, timed) WHERE k.timed))
            THEN coalesce(array_agg(p.id ORDER BY p.id), '{}') END
          FROM (
            SELECT s.id, row_number() OVER (PARTITION BY CASE WHEN g.await_mode = 2 THEN w.of END
              ORDER BY CASE WHEN g.await_mode = 1 THEN w.of END, s.id) AS nth
            FROM unnest(g.awaits, g.await_groups) AS w(name, of)
            JOIN {schema}.signals s ON s.target_id = g.id AND s.consumed_at IS NULL AND s.name = w.name) p
          WHERE p.nth <= CASE WHEN g.await_mode = 2 THEN 1 ELSE g.await_need END)
      END
  WHERE g.ctid = ANY (ARRAY(SELECT tid FROM chosen))
  RETURNING g.id, g.concurrency_shard, g.fsm, g.fsm_version, g.step, g.state::text AS state, g.carry::text AS carry,
    g.attempt, g.errors, g.crashes, g.transitions, g.priority, g.home_queue, g.home_priority, g.concurrency_key,
    g.parent_id, g.parent_round, g.cancelled_at IS NOT NULL AND NOT g.shielded AS cancelled,
    g.expired_at IS NOT NULL AND g.expires AND g.cancelled_at IS NULL AS expired,
    CASE WHEN g.exit_signals IS NOT NULL AND g.cancelled_at IS NULL THEN (
      SELECT json_build_array(json_build_array(s.id, s.name, s.payload))::text FROM {schema}.signals s
      WHERE s.target_id = g.id AND s.consumed_at IS NULL AND s.name = ANY (g.exit_signals)
      ORDER BY s.id LIMIT 1) END AS exit,
    g.awaits IS NOT NULL AS waited, g.received IS NOT NULL AS settled,
    CASE WHEN g.cancelled_at IS NOT NULL THEN
      (SELECT true FROM {schema}.gen_durable c WHERE c.parent_id = g.id LIMIT 1) END IS TRUE AS has_children,
    CASE WHEN g.received <> '{}' THEN (
      SELECT json_agg(json_build_array(s.id, s.name, s.payload) ORDER BY s.id)::text
      FROM {schema}.signals s WHERE s.id = ANY (g.received)) END AS signals
)
SELECT t.*,
  (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now_us,
  (extract(epoch FROM w.due) * 1000000)::bigint AS due_us,
  (extract(epoch FROM w.deadline) * 1000000)::bigint AS deadline_us,
  (SELECT count(*) FROM due) AS looked,
  (SELECT count(*) FROM due WHERE due.limited) AS limited,
  crowd.crowd, crowd.strangers
FROM (
  SELECT
    CASE WHEN c.none THEN (
      -- The next due row of each priority.
      SELECT min((SELECT g.eligible_at FROM {schema}.gen_durable g
                  WHERE g.queue = $1 AND g.status = 'runnable' AND g.priority = p.priority AND g.eligible_at > now()
                    AND g.eligible_at < 'infinity'
                  ORDER BY g.eligible_at LIMIT 1))
      FROM levels AS p WHERE p.priority IS NOT NULL) END AS due,
    CASE WHEN c.none THEN (
      -- The next wait or instance whose time is up, in any queue: whoever is awake ends it.
      SELECT least(
        (SELECT g.deadline_at FROM {schema}.gen_durable g
         WHERE g.deadline_at IS NOT NULL AND g.deadline_at < 'infinity' ORDER BY g.deadline_at LIMIT 1),
        (SELECT g.await_deadline FROM {schema}.gen_durable g
         WHERE g.status = 'awaiting_signal' AND g.await_deadline < 'infinity'
         ORDER BY g.await_deadline LIMIT 1),
        (SELECT g.await_deadline FROM {schema}.gen_durable g
         WHERE g.status = 'awaiting_children' AND g.await_deadline < 'infinity' AND g.locked_by IS NOT NULL -- see end_waits.sql
         ORDER BY g.await_deadline LIMIT 1))) END AS deadline
  FROM (SELECT NOT EXISTS (SELECT FROM taken) AS none) c) w
CROSS JOIN unflushed
LEFT JOIN taken t ON true
-- Of the first rows that are due, how many wait for a busy key, and how many are of code that this worker does not know.
CROSS JOIN (
  SELECT
    count(*) FILTER (WHERE d.concurrency_key IS NOT NULL AND (
      SELECT true FROM {schema}.gen_durable b
      WHERE b.concurrency_key = d.concurrency_key AND b.status = 'executing' AND b.concurrency_shard IS NULL
      LIMIT 1)) AS crowd,
    count(*) FILTER (WHERE ((d.fsm, d.fsm_version, d.step) IN (
      SELECT * FROM unnest($3::text[], $4::int[], $5::text[]))) IS NOT TRUE) AS strangers
  FROM (
    SELECT h.* FROM levels CROSS JOIN LATERAL (
      SELECT g.concurrency_key, g.fsm, g.fsm_version, g.step FROM {schema}.gen_durable g
      WHERE g.queue = $1 AND g.status = 'runnable' AND g.priority = levels.priority AND g.eligible_at <= now()
      ORDER BY g.eligible_at LIMIT 1000) h
    WHERE $10
    LIMIT 1000) d) crowd
