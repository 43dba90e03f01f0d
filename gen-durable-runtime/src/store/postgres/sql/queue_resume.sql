-- Lets a paused queue go on. Index: the primary key. $1 queue
DELETE FROM {schema}.gen_durable_queues WHERE queue = $1 RETURNING queue
