-- What keeps an instance from running, beside its own row.
-- Index: primary keys; gen_durable_lease (rows that execute); gen_durable_held_key.
-- $1 id  $2 how long a worker counts that is not seen, in microseconds
WITH this AS MATERIALIZED (
  SELECT g.id, g.queue, g.concurrency_key, g.concurrency_name, g.fsm || ':' || g.fsm_version || ':' || g.step AS code
  FROM {schema}.gen_durable g WHERE g.id = $1
), holders AS MATERIALIZED (
  SELECT g.id FROM this JOIN {schema}.gen_durable g ON g.concurrency_key = this.concurrency_key AND g.id <> this.id
  WHERE g.status = 'executing' AND g.lease_expires_at IS NOT NULL
  UNION
  SELECT h.instance_id FROM this JOIN {schema}.gen_durable_held h ON h.key = this.concurrency_key AND h.instance_id <> this.id
  JOIN {schema}.gen_durable g ON g.id = h.instance_id AND g.status::text NOT IN ('done', 'failed')
), live AS MATERIALIZED (
  SELECT w.queues FROM this JOIN {schema}.gen_durable_workers w ON this.code = ANY (w.codes)
  WHERE w.seen_at > now() - $2 * interval '1 microsecond'
)
SELECT (extract(epoch FROM now()) * 1000000)::bigint AS now_us, this.concurrency_key,
  (SELECT c.capacity FROM {schema}.gen_durable_bucket_configs c
   WHERE c.kind = 'conc' AND c.name = this.concurrency_name) AS key_limit,
  (SELECT count(*) FROM holders) AS held,
  ARRAY(SELECT holders.id FROM holders ORDER BY holders.id LIMIT 10) AS holders,
  (SELECT (extract(epoch FROM q.paused_at) * 1000000)::bigint FROM {schema}.gen_durable_queues q
   WHERE q.queue = this.queue) AS paused_us,
  EXISTS (SELECT FROM live) AS known,
  EXISTS (SELECT FROM live WHERE this.queue = ANY (live.queues)) AS served
FROM this
