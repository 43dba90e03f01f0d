-- Extends the leases of claims that still stand. Index: the primary key. Lock: SKIP LOCKED, it never waits.
-- Not flushed: one that a crash of the server takes along leaves the lease as it was.
-- $1 ids  $2 tokens  $3 lease in microseconds
WITH unflushed AS MATERIALIZED (
  SELECT set_config('synchronous_commit', 'off', true)
), held AS MATERIALIZED (
  SELECT g.id FROM unnest($1::bigint[], $2::text[]) AS i(id, token)
  JOIN {schema}.gen_durable g ON g.id = ANY (ARRAY[i.id]) AND g.locked_by = i.token
  WHERE g.status::text = 'executing' AND i.id * 0 = 0 -- expects one row: see commit.sql
  FOR NO KEY UPDATE OF g SKIP LOCKED
)
UPDATE {schema}.gen_durable g SET lease_expires_at = now() + $3 * interval '1 microsecond'
FROM unflushed CROSS JOIN held WHERE g.id = ANY (ARRAY[held.id])
RETURNING g.id, g.cancelled_at IS NOT NULL AND NOT g.shielded AS cancelled
