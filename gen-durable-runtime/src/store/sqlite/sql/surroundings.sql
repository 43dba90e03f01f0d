-- What keeps an instance from running, beside its own row.
-- Index: primary keys; gen_durable_lease (rows that execute); gen_durable_held_key.
-- ?1 id  ?2 since when a worker must have been seen  ?3 now
WITH this AS MATERIALIZED (
  SELECT g.id, g.queue, g.concurrency_key, g.concurrency_name, g.fsm || ':' || g.fsm_version || ':' || g.step AS code
  FROM gen_durable g WHERE g.id = ?1),
holders AS MATERIALIZED (
  SELECT g.id FROM this CROSS JOIN gen_durable AS g INDEXED BY gen_durable_lease
  WHERE g.status = 'executing' AND g.concurrency_key = this.concurrency_key AND g.id <> this.id
  UNION
  SELECT h.instance_id FROM this CROSS JOIN gen_durable_held AS h ON h.key = this.concurrency_key AND h.instance_id <> this.id
  JOIN gen_durable g ON g.id = h.instance_id AND +g.status NOT IN ('done', 'failed')),
live AS MATERIALIZED (
  SELECT w.queues FROM this CROSS JOIN gen_durable_workers AS w
  WHERE w.seen_at > ?2 AND EXISTS (SELECT 1 FROM json_each(w.codes) AS c WHERE c.value = this.code))
SELECT ?3 AS now, this.concurrency_key,
  (SELECT c.capacity FROM gen_durable_bucket_configs c
   WHERE c.kind = 'conc' AND c.name = this.concurrency_name) AS key_limit,
  (SELECT count(*) FROM holders) AS held,
  (SELECT json_group_array(t.id) FROM (SELECT holders.id FROM holders ORDER BY holders.id LIMIT 10) AS t) AS holders,
  (SELECT q.paused_at FROM gen_durable_queues q WHERE q.queue = this.queue) AS paused_at,
  EXISTS (SELECT 1 FROM live) AS known,
  EXISTS (SELECT 1 FROM live, json_each(live.queues) AS q WHERE q.value = this.queue) AS served
FROM this
