-- How the rows stand that a commit or a renewal did not return: busy, lost, or committed before (the answer of an
-- earlier attempt was lost). Index: the primary key. $1 ids
SELECT g.id, g.locked_by, g.transitions, g.attempt, g.status::text AS status,
  g.cancelled_at IS NOT NULL AND NOT g.shielded AS cancelled
FROM {schema}.gen_durable g WHERE g.id = ANY ($1)
