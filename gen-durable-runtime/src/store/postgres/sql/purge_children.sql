-- Lets children forget parents that go, a piece at a time: the foreign key would do it for all at once, and wait for each.
--
-- Runs after purge_hold.sql in its transaction: nobody becomes a child of theirs any more. Those that go too keep them.
-- Index: gen_durable_parent. Lock: NO KEY UPDATE, SKIP LOCKED. $1 ids that go  $2 limit
WITH held AS MATERIALIZED (
  SELECT c.id FROM {schema}.gen_durable c
  WHERE c.parent_id = ANY ($1) AND c.id NOT IN (SELECT i.id FROM unnest($1::bigint[]) AS i(id))
  LIMIT $2
  FOR NO KEY UPDATE OF c SKIP LOCKED
)
UPDATE {schema}.gen_durable g SET parent_id = NULL
FROM held h
WHERE g.id = ANY (ARRAY[h.id]) AND h.id * 0 = 0 -- expects one row: see commit.sql
RETURNING g.id
