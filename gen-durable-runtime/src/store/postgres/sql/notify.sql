-- Wakes the workers of these queues. Sent after the commit, gathered. Not flushed: nobody hears it before its commit is written, and
-- a crash of the server ends whoever listens. $1 channel  $2 payloads
WITH unflushed AS MATERIALIZED (
  SELECT set_config('synchronous_commit', 'off', true)
)
SELECT pg_notify($1, p) FROM unflushed CROSS JOIN unnest($2::text[]) AS p
