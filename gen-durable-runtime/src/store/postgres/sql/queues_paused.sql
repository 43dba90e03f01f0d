-- The queues that are paused: few. No index.
SELECT q.queue FROM {schema}.gen_durable_queues q
