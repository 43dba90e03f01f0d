-- Extends the lease of one claim whose row someone else holds, and waits for it: a waiter in line takes the row before
-- a reaper that skips locked ones can. The clock is read after the wait: now() is when the statement began. Alone in its transaction, so it holds no other row. Index: the primary key.
-- $1 id  $2 token  $3 lease in microseconds
UPDATE {schema}.gen_durable g SET lease_expires_at = clock_timestamp() + $3 * interval '1 microsecond'
WHERE g.id = $1 AND g.locked_by = $2 AND g.status::text = 'executing'
RETURNING g.id
