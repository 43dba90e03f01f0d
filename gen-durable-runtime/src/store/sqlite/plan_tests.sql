-- A file with rows in every status, and its statistics.
INSERT INTO gen_durable (fsm, step, status, queue, lease_expires_at, await_deadline, awaits, locked_by)
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
SELECT 'm', 'a', CASE i % 4 WHEN 0 THEN 'runnable' WHEN 1 THEN 'executing' WHEN 2 THEN 'awaiting_signal' ELSE 'done' END,
  'q' || i % 3, i, i, '[]', 'w#' || i FROM n;
INSERT INTO signals (target_id, name) SELECT id, 's' FROM gen_durable;
ANALYZE;
