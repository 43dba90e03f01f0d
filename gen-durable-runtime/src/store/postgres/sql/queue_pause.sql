-- Pauses a queue, unless it is paused. Index: the primary key. $1 queue
INSERT INTO {schema}.gen_durable_queues (queue, paused_at) VALUES ($1, now())
ON CONFLICT (queue) DO NOTHING
RETURNING queue
