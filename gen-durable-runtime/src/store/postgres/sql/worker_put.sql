-- Says that a worker has started and what it knows; those that were not seen for a day go. Index: the primary key.
-- Lock: SKIP LOCKED, others say the same. $1 name  $2 queues  $3 what it knows
WITH gone AS (
  DELETE FROM {schema}.gen_durable_workers w
  WHERE w.name IN (
    SELECT o.name FROM {schema}.gen_durable_workers o
    WHERE o.seen_at < now() - interval '1 day' AND o.name <> $1 FOR UPDATE OF o SKIP LOCKED))
INSERT INTO {schema}.gen_durable_workers (name, queues, codes) VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET queues = excluded.queues, codes = excluded.codes, seen_at = now()
