-- Moves rows of unknown code out of the claim's way, if they still are due. Index: the primary key. Lock: SKIP LOCKED.
-- $1 ids  $2 their code
WITH due AS MATERIALIZED (
  SELECT g.id, i.code FROM unnest($1::bigint[], $2::text[]) AS i(id, code)
  JOIN {schema}.gen_durable g ON g.id = ANY (ARRAY[i.id]) AND i.id * 0 = 0 -- expects one row: see commit.sql
  WHERE g.status::text = 'runnable' AND g.eligible_at <= now()
    AND g.fsm || ':' || g.fsm_version || ':' || g.step = i.code
  FOR NO KEY UPDATE OF g SKIP LOCKED
)
UPDATE {schema}.gen_durable g
SET blocked_by = 'code:' || due.code, due_at = coalesce(g.due_at, g.eligible_at), eligible_at = 'infinity', updated_at = now()
FROM due WHERE g.id = ANY (ARRAY[due.id]) AND due.id * 0 = 0
RETURNING g.id
