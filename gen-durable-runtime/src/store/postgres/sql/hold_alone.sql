-- Locks one row and waits for it: the slow lane, for a row that someone else holds. Index: the primary key. $1 id
SELECT g.id FROM {schema}.gen_durable g WHERE g.id = $1 FOR NO KEY UPDATE
