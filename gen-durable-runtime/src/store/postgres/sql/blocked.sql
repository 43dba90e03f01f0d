-- What rows were set aside for, each once, in order, after a given one. Index: gen_durable_blocked, by a loose scan.
-- $1 after  $2 limit
WITH RECURSIVE causes AS (
  (SELECT g.blocked_by FROM {schema}.gen_durable g
   WHERE g.blocked_by IS NOT NULL AND g.blocked_by > $1 ORDER BY g.blocked_by LIMIT 1)
  UNION ALL
  SELECT (SELECT g.blocked_by FROM {schema}.gen_durable g
          WHERE g.blocked_by IS NOT NULL AND g.blocked_by > causes.blocked_by ORDER BY g.blocked_by LIMIT 1)
  FROM causes WHERE causes.blocked_by IS NOT NULL
)
SELECT causes.blocked_by FROM causes WHERE causes.blocked_by IS NOT NULL LIMIT $2
