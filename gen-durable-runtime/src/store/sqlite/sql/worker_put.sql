-- Says that a worker has started and what it knows. Index: the primary key.
-- ?1 name  ?2 queues as JSON  ?3 what it knows, as JSON  ?4 now
INSERT INTO gen_durable_workers (name, queues, codes, started_at, seen_at) VALUES (?1, ?2, ?3, ?4, ?4)
ON CONFLICT (name) DO UPDATE SET queues = excluded.queues, codes = excluded.codes, seen_at = excluded.seen_at
