-- Pauses a queue, unless it is paused. Index: the primary key. ?1 queue  ?2 now
INSERT INTO gen_durable_queues (queue, paused_at) VALUES (?1, ?2) ON CONFLICT (queue) DO NOTHING RETURNING queue
