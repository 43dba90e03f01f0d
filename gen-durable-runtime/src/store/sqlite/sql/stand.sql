-- How the rows stand that a commit did not return: lost, or committed before (the answer of an earlier attempt was
-- lost). Index: the primary key. ?1 ids
SELECT g.id, g.locked_by, g.transitions, g.attempt, g.status, g.cancelled_at IS NOT NULL AND NOT g.shielded AS cancelled
FROM gen_durable g WHERE g.id IN (SELECT value FROM json_each(?1))
