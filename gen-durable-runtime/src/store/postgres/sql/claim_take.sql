-- Leases rows that candidates.sql locked and that passed their limits.
-- Index: the primary key; the unique index of executing keys arbitrates those without a gate, and a key that another claim is
-- taking right now is left to it, by a try-lock: see claim.sql.
-- $1 ids  $2 their slots  $3 keys without a gate  $4 token  $5 lease in microseconds
-- $6 known machines  $7 their versions  $8 their steps  $9 which of these bound their wait
WITH chosen AS MATERIALIZED (
  SELECT i.id, i.slot FROM unnest($1::bigint[], $2::smallint[], $3::text[]) WITH ORDINALITY AS i(id, slot, key, ord)
  WHERE CASE WHEN i.key IS NULL THEN true
    WHEN i.ord > 1000 THEN false
    -- Busy since the candidates were looked at: its entry would be waited for, by a claim that holds counters.
    WHEN (SELECT true FROM {schema}.gen_durable b
          WHERE b.concurrency_key = i.key AND b.status = 'executing' AND b.concurrency_shard IS NULL LIMIT 1) THEN false
    ELSE pg_try_advisory_xact_lock(1734700645, hashtext(i.key)) END
), taken AS (
  UPDATE {schema}.gen_durable g
  SET status = 'executing',
      locked_by = $4,
      lease_expires_at = now() + $5 * interval '1 microsecond',
      concurrency_shard = chosen.slot,
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
              SELECT k.fsm, k.version, k.step FROM unnest($6::text[], $7::int[], $8::text[], $9::boolean[])
              AS k(fsm, version, step, timed) WHERE k.timed)) THEN '{}'::bigint[] END)
        -- Several: the oldest of each group, or the oldest ones. At the deadline what has come.
        ELSE (
          SELECT CASE WHEN count(*) >= g.await_need OR g.await_deadline <= now()
              OR (g.await_deadline IS NULL AND (g.fsm, g.fsm_version, g.step) IN (
                SELECT k.fsm, k.version, k.step FROM unnest($6::text[], $7::int[], $8::text[], $9::boolean[])
                AS k(fsm, version, step, timed) WHERE k.timed))
            THEN coalesce(array_agg(p.id ORDER BY p.id), '{}') END
          FROM (
            SELECT s.id, row_number() OVER (PARTITION BY CASE WHEN g.await_mode = 2 THEN w.of END
              ORDER BY CASE WHEN g.await_mode = 1 THEN w.of END, s.id) AS nth
            FROM unnest(g.awaits, g.await_groups) AS w(name, of)
            JOIN {schema}.signals s ON s.target_id = g.id AND s.consumed_at IS NULL AND s.name = w.name) p
          WHERE p.nth <= CASE WHEN g.await_mode = 2 THEN 1 ELSE g.await_need END)
      END
  FROM chosen
  WHERE g.id = ANY (ARRAY[chosen.id]) AND chosen.id * 0 = 0 -- expects one row: see commit.sql
  RETURNING g.id, g.fsm, g.fsm_version, g.step, g.state::text AS state, g.carry::text AS carry,
    g.attempt, g.errors, g.crashes, g.transitions, g.priority, g.home_queue, g.home_priority, g.concurrency_key,
    g.concurrency_shard, g.parent_id, g.parent_round, g.cancelled_at IS NOT NULL AND NOT g.shielded AS cancelled,
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
SELECT t.*, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now_us
FROM taken t
