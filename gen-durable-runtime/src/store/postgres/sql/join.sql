-- Counts the children of a batch that ended with their parents, once per batch and parent, and wakes a parent whose
-- children have all ended, or whose quorum is there or out of reach.
--
-- Runs after commit.sql in its transaction, when the parents are locked. A parent that waits no more, or for another
-- round, counts nobody: what its join saw stays what it saw. A child that another engine started gets the round and a
-- place when it is counted: the next round is not its own.
-- Index: the primary key; gen_durable_parent for places. $1 the children  $2 those that their own commit has marked as counted
WITH pair AS MATERIALIZED (
  SELECT p.id AS parent, p.children_pending AS pending, p.children_done AS had, p.children_quorum AS quorum,
    -- Only a parent with a foreign scope, that gave its key up while it waited, can meet a newer occupant.
    p.correlation_key IS NOT NULL AND p.correlation_guard IS NULL AND 'runnable' = ANY (p.correlation_scope)
      AND EXISTS (SELECT FROM {schema}.gen_durable o WHERE o.correlation_guard = p.correlation_key) AS key_taken,
    c.status, c.child_index
  FROM {schema}.gen_durable c
  JOIN {schema}.gen_durable p ON p.id = ANY (ARRAY[c.parent_id]) AND (c.parent_round IS NULL OR c.parent_round = p.transitions)
  -- A hashed IN: one of a list would be looked for from its beginning.
  WHERE c.id = ANY ($1::bigint[] || $2::bigint[]) AND (c.counted IS NOT TRUE OR c.id IN (SELECT unnest($2::bigint[])))
    AND p.status::text = 'awaiting_children'
), ended AS MATERIALIZED (
  -- One row a parent, or the update would take one of two.
  SELECT e.parent, count(*)::int AS ended, (count(*) FILTER (WHERE e.status = 'done'))::int AS done,
    (e.pending <= count(*) OR e.had + count(*) FILTER (WHERE e.status = 'done') >= e.quorum
      OR e.had + count(*) FILTER (WHERE e.status = 'done') + e.pending - count(*) < e.quorum) IS TRUE AS is_over,
    e.key_taken, bool_or(e.child_index IS NULL) AS placeless
  FROM pair e GROUP BY e.parent, e.pending, e.had, e.quorum, e.key_taken
), told AS (
  UPDATE {schema}.gen_durable p
  SET children_pending = CASE WHEN e.is_over AND e.key_taken THEN 0 ELSE greatest(p.children_pending - e.ended, 0) END,
      children_done = p.children_done + e.done,
      status = CASE WHEN NOT e.is_over THEN p.status WHEN e.key_taken THEN 'failed' ELSE 'runnable' END,
      last_error = CASE WHEN e.is_over AND e.key_taken THEN 'its business key has a newer occupant' ELSE p.last_error END,
      eligible_at = CASE WHEN e.is_over THEN now() ELSE p.eligible_at END,
      updated_at = now()
  FROM ended e
  WHERE p.id = ANY (ARRAY[e.parent]) AND e.parent * 0 = 0 -- expects one row: see commit.sql
  RETURNING p.id, p.transitions, p.status::text AS status, p.queue, p.parent_id, e.placeless
), places AS MATERIALIZED (
  SELECT s.id, (row_number() OVER (PARTITION BY s.parent_id ORDER BY s.id) - 1)::int AS place
  FROM told
  JOIN {schema}.gen_durable s ON s.parent_id = told.id AND (s.parent_round IS NULL OR s.parent_round = told.transitions)
  WHERE told.placeless AND told.id * 0 = 0
), counted AS (
  UPDATE {schema}.gen_durable c
  SET counted = true, parent_round = told.transitions,
      child_index = coalesce(c.child_index, (SELECT places.place FROM places WHERE places.id = c.id))
  FROM told
  WHERE c.id = ANY ($1) AND c.parent_id = told.id AND (c.parent_round IS NULL OR c.parent_round = told.transitions)
    AND c.counted IS NOT TRUE
)
SELECT told.id, told.queue, told.parent_id, told.status FROM told WHERE told.status <> 'awaiting_children'
