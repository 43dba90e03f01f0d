-- All limits, each with how many rows wait for it, counted up to $1. Index: gen_durable_blocked. $1 rows counted
SELECT c.kind, c.name, c.capacity, coalesce(c.rate, 0) AS rate, c.shards, c.by_operator,
  (SELECT count(*) FROM (
    SELECT 1 FROM {schema}.gen_durable g WHERE g.blocked_by IS NOT NULL AND g.blocked_by = k.cause
    UNION ALL
    SELECT 1 FROM {schema}.gen_durable g
    WHERE g.blocked_by IS NOT NULL AND g.blocked_by >= k.cause || ':' AND g.blocked_by < k.cause || ':' || chr(1114111)
    LIMIT $1) w) AS waiting
FROM {schema}.gen_durable_bucket_configs c
CROSS JOIN LATERAL (SELECT CASE c.kind WHEN 'rate' THEN 'rate:' ELSE 'key:' END || c.name AS cause) k
ORDER BY c.kind, c.name
