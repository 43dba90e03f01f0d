-- Wakes rows that were set aside for these keys, in their order: as many as were freed, and as are free.
-- Index: gen_durable_blocked; gen_durable_concurrency_active; the primary keys of limits and counters. Lock: SKIP LOCKED.
-- $1 keys  $2 how many each, at most
WITH freed AS MATERIALIZED (
  SELECT i.key, least(i.slots, CASE
    WHEN c.name IS NULL THEN CASE WHEN EXISTS (
      SELECT FROM {schema}.gen_durable b
      WHERE b.concurrency_key = i.key AND b.status = 'executing' AND b.concurrency_shard IS NULL) THEN 0 ELSE 1 END
    ELSE coalesce((
      SELECT sum(floor(b.available)) FROM {schema}.gen_durable_buckets b
      WHERE b.kind = 'conc' AND b.key = i.key AND b.owed = 0), c.capacity)
    END)::bigint AS slots
  FROM unnest($1::text[], $2::bigint[]) AS i(key, slots)
  LEFT JOIN {schema}.gen_durable_bucket_configs c ON c.kind = 'conc' AND c.name = split_part(i.key, ':', 1)
), woken AS MATERIALIZED (
  SELECT w.id FROM freed f CROSS JOIN LATERAL (
    SELECT g.id FROM {schema}.gen_durable g
    WHERE g.blocked_by = 'key:' || f.key AND g.status::text = 'runnable'
    ORDER BY g.priority, g.due_at LIMIT f.slots
    FOR NO KEY UPDATE OF g SKIP LOCKED) w
)
UPDATE {schema}.gen_durable g
SET eligible_at = g.due_at, blocked_by = NULL, due_at = NULL, updated_at = now()
FROM woken WHERE g.id = ANY (ARRAY[woken.id]) AND woken.id * 0 = 0 -- expects one row: see commit.sql
RETURNING g.queue
