-- Workers that live, by name. A table of a few rows. ?1 since when one must have been seen
SELECT w.name, w.queues, w.codes, w.started_at, w.seen_at FROM gen_durable_workers w WHERE w.seen_at > ?1 ORDER BY w.name
