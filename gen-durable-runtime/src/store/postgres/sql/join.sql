-- Counts the children of a batch that ended with their parents, once per batch and parent, and wakes a parent whose
-- children have all ended, or whose quorum is there or out of reach.
--
-- Runs after commit.sql in its transaction, when the parents are locked. A parent that waits no more, or for another
-- round, counts nobody: what its join saw stays what it saw.
-- Index: the primary key. $1 the children
WITH ended AS MATERIALIZED (
  -- One row a parent, or the update would take one of two.
  SELECT p.id AS parent, count(*)::int AS ended,
    (count(*) FILTER (WHERE c.status = 'done'))::int AS done
  FROM {schema}.gen_durable c
  JOIN {schema}.gen_durable p ON p.id = c.parent_id AND (c.parent_round IS NULL OR c.parent_round = p.transitions)
  WHERE c.id = ANY ($1) AND c.counted IS NOT TRUE AND p.status::text = 'awaiting_children'
  GROUP BY 1
), told AS (
  UPDATE {schema}.gen_durable p
  SET children_pending = greatest(p.children_pending - e.ended, 0),
      children_done = p.children_done + e.done,
      status = CASE WHEN p.children_pending <= e.ended OR p.children_done + e.done >= p.children_quorum
          OR p.children_done + e.done + p.children_pending - e.ended < p.children_quorum
        THEN 'runnable'::{schema}.durable_status ELSE p.status END,
      eligible_at = CASE WHEN p.children_pending <= e.ended OR p.children_done + e.done >= p.children_quorum
          OR p.children_done + e.done + p.children_pending - e.ended < p.children_quorum
        THEN now() ELSE p.eligible_at END,
      updated_at = now()
  FROM ended e
  WHERE p.id = e.parent AND e.parent * 0 = 0 -- expects one row: see commit.sql
  RETURNING p.id, p.transitions, p.status::text AS status, p.queue
), counted AS (
  UPDATE {schema}.gen_durable c SET counted = true FROM told
  WHERE c.id = ANY ($1) AND c.parent_id = told.id AND (c.parent_round IS NULL OR c.parent_round = told.transitions)
    AND c.counted IS NOT TRUE
)
SELECT told.queue FROM told WHERE told.status = 'runnable'
