-- Whom each signal is for; one row for each input, in order. Index: the primary key; gen_durable_correlation.
-- ?1 [[id, business key], ..]
SELECT g.id, g.queue, g.status
FROM json_each(?1) AS i
LEFT JOIN gen_durable g
  ON g.id = coalesce(i.value ->> 0, (SELECT k.id FROM gen_durable k WHERE k.correlation_guard = i.value ->> 1))
  AND +g.status NOT IN ('done', 'failed')
ORDER BY i.key
