-- The queues that are paused: few. No index.
SELECT paused.queue FROM gen_durable_queues AS paused
