-- Workers that live, by name. A table of a few rows. $1 how long one counts that is not seen, in microseconds
SELECT w.name, w.queues, w.codes,
  (extract(epoch FROM w.started_at) * 1000000)::bigint AS started_us,
  (extract(epoch FROM w.seen_at) * 1000000)::bigint AS seen_us
FROM {schema}.gen_durable_workers w
WHERE w.seen_at > now() - $1 * interval '1 microsecond'
ORDER BY w.name
