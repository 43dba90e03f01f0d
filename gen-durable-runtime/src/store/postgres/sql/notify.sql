-- Wakes the workers of these queues. Sent after the commit, gathered. $1 channel  $2 payloads
SELECT pg_notify($1, p) FROM unnest($2::text[]) AS p
