-- How the instances of each queue stand, a line for each count.
-- Index: gen_durable_pick, by a loose scan over queues and priorities, each counted up to $1 rows; gen_durable_lease for what runs;
-- gen_durable_blocked for what is set aside, up to $2 rows; the newest $2 instances for what is parked, which no index has.
WITH RECURSIVE heads AS (
  (SELECT g.queue, g.priority FROM {schema}.gen_durable g
   WHERE g.status = 'runnable' ORDER BY g.queue, g.priority LIMIT 1)
  UNION ALL
  SELECT n.queue, n.priority FROM heads h CROSS JOIN LATERAL (
    SELECT g.queue, g.priority FROM {schema}.gen_durable g
    WHERE g.status = 'runnable' AND (g.queue, g.priority) > (h.queue, h.priority)
    ORDER BY g.queue, g.priority LIMIT 1) n
), due AS (
  SELECT h.queue, d.n, d.oldest FROM heads h CROSS JOIN LATERAL (
    SELECT count(*) AS n, min(g.eligible_at) AS oldest FROM (
      SELECT g.eligible_at FROM {schema}.gen_durable g
      WHERE g.queue = h.queue AND g.status = 'runnable' AND g.priority = h.priority AND g.eligible_at <= now()
        AND g.blocked_by IS NULL
      ORDER BY g.eligible_at LIMIT $1) g) d
), later AS (
  SELECT h.queue, d.n FROM heads h CROSS JOIN LATERAL (
    SELECT count(*) AS n FROM (
      SELECT 1 FROM {schema}.gen_durable g
      WHERE g.queue = h.queue AND g.status = 'runnable' AND g.priority = h.priority AND g.eligible_at > now()
        AND g.blocked_by IS NULL
      ORDER BY g.eligible_at LIMIT $1) g) d
), aside AS (
  SELECT a.queue, a.blocked_by LIKE 'key:%' OR a.blocked_by LIKE 'rate:%' OR a.blocked_by LIKE 'limit:%' AS limited
  FROM (
    SELECT g.queue, g.blocked_by FROM {schema}.gen_durable g
    WHERE g.blocked_by IS NOT NULL LIMIT $2) a
), newest AS (
  SELECT g.queue, g.status FROM {schema}.gen_durable g ORDER BY g.id DESC LIMIT $2
)
SELECT 'due' AS what, due.queue, sum(due.n)::bigint AS n, (extract(epoch FROM min(due.oldest)) * 1000000)::bigint AS at_us,
  bool_or(due.n >= $1) AS more
FROM due GROUP BY due.queue
UNION ALL
SELECT 'later', later.queue, sum(later.n)::bigint, NULL, bool_or(later.n >= $1) FROM later GROUP BY later.queue
UNION ALL
SELECT 'running', g.queue, count(*), NULL, false FROM {schema}.gen_durable g
WHERE g.status = 'executing' AND g.lease_expires_at IS NOT NULL GROUP BY g.queue
UNION ALL
SELECT CASE WHEN aside.limited THEN 'limited' ELSE 'blocked' END, aside.queue, count(*), NULL,
  (SELECT count(*) FROM aside) >= $2
FROM aside GROUP BY aside.limited, aside.queue
UNION ALL
SELECT 'parked', newest.queue, count(*), NULL, (SELECT count(*) FROM newest) >= $2
FROM newest WHERE newest.status IN ('awaiting_signal', 'awaiting_children') GROUP BY newest.queue
UNION ALL
SELECT 'paused', q.queue, 0, (extract(epoch FROM q.paused_at) * 1000000)::bigint, false FROM {schema}.gen_durable_queues q
