-- The keys of each limit of which most is taken, the busiest first, after what time brought back. Walks the counters, which
-- idle keys have none of, up to ?2 of them. Index: gen_durable_blocked for who waits; the primary key of limits.
-- ?1 keys a limit  ?2 counters  ?3 rows counted  ?4 now
WITH counters AS (
  SELECT b.kind, b.key, substr(b.key, 1, instr(b.key || ':', ':') - 1) AS name, b.capacity, b.available, b.owed, b.last_refill
  FROM gen_durable_buckets AS b LIMIT ?2
), back AS (
  SELECT counters.*, max(0.0, coalesce(?4 - counters.last_refill, 0) / 1000000.0 * coalesce(c.rate, 0.0) / max(c.shards, 1)) AS back
  FROM counters JOIN gen_durable_bucket_configs AS c ON c.kind = counters.kind AND c.name = counters.name
), used AS (
  SELECT kind, name, key,
    sum(capacity - max(0.0, min(capacity, available + max(0.0, back - owed)))) AS used,
    sum(max(0.0, owed - back)) AS owed
  FROM back GROUP BY kind, name, key
), ranked AS (
  SELECT used.*, row_number() OVER (PARTITION BY kind, name ORDER BY used + owed DESC, key) AS nth
  FROM used WHERE used + owed > 0
)
SELECT ranked.kind, ranked.name, ranked.key, ranked.used, ranked.owed,
  (SELECT count(*) FROM (
    SELECT 1 FROM gen_durable g
    WHERE g.blocked_by = CASE ranked.kind WHEN 'rate' THEN 'rate:' ELSE 'key:' END || ranked.key
    LIMIT ?3)) AS waiting
FROM ranked WHERE ranked.nth <= ?1
ORDER BY ranked.kind, ranked.name, ranked.nth
