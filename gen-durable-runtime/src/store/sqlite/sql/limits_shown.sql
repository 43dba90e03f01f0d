-- All limits, each with how many rows wait for it, counted up to ?1. Index: gen_durable_blocked. ?1 rows counted
SELECT limits.kind, limits.name, limits.capacity, coalesce(limits.rate, 0.0) AS rate, limits.shards, limits.by_operator,
  (SELECT count(*) FROM (
    SELECT 1 FROM gen_durable g
    WHERE g.blocked_by = CASE limits.kind WHEN 'rate' THEN 'rate:' ELSE 'key:' END || limits.name
    UNION ALL
    SELECT 1 FROM gen_durable g
    WHERE g.blocked_by >= CASE limits.kind WHEN 'rate' THEN 'rate:' ELSE 'key:' END || limits.name || ':'
      AND g.blocked_by < CASE limits.kind WHEN 'rate' THEN 'rate:' ELSE 'key:' END || limits.name || ':' || char(1114111)
    LIMIT ?1)) AS waiting
FROM gen_durable_bucket_configs AS limits
ORDER BY limits.kind, limits.name
