-- How the instances stand that someone waits for. Index: the primary key. $1 ids
SELECT g.id, g.fsm, g.status::text AS status, g.step, g.result::text AS result, g.last_error
FROM {schema}.gen_durable g WHERE g.id = ANY ($1)
