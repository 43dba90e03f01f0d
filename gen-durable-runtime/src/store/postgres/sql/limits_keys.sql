-- The keys of each limit of which most is taken, the busiest first, after what time brought back. Walks the counters, which
-- idle keys have none of, up to $2 of them. Index: gen_durable_blocked for who waits. $1 keys a limit  $2 counters  $3 rows counted
WITH used AS (
  SELECT b.kind, c.name, b.key,
    sum(b.capacity - greatest(0, least(b.capacity, b.available + greatest(0, t.back - b.owed)))) AS used,
    sum(greatest(0, b.owed - t.back)) AS owed
  FROM (SELECT * FROM {schema}.gen_durable_buckets LIMIT $2) b
  JOIN {schema}.gen_durable_bucket_configs c ON c.kind = b.kind AND c.name = split_part(b.key, ':', 1)
  CROSS JOIN LATERAL (
    SELECT greatest(0, coalesce(extract(epoch FROM now() - b.last_refill), 0)::float8
      * coalesce(c.rate, 0) / greatest(c.shards, 1)) AS back) t
  GROUP BY b.kind, c.name, b.key
), ranked AS (
  SELECT u.*, row_number() OVER (PARTITION BY u.kind, u.name ORDER BY u.used + u.owed DESC, u.key) AS nth
  FROM used u WHERE u.used + u.owed > 0
)
SELECT r.kind, r.name, r.key, r.used, r.owed,
  (SELECT count(*) FROM (
    SELECT 1 FROM {schema}.gen_durable g
    WHERE g.blocked_by IS NOT NULL AND g.blocked_by = CASE r.kind WHEN 'rate' THEN 'rate:' ELSE 'key:' END || r.key
    LIMIT $3) w) AS waiting
FROM ranked r WHERE r.nth <= $1
ORDER BY r.kind, r.name, r.nth
