-- How the instances stand that someone waits for. Index: the primary key. ?1 ids
SELECT g.id, g.fsm, g.status, g.step, g.result, g.last_error
FROM gen_durable g WHERE g.id IN (SELECT value FROM json_each(?1))
