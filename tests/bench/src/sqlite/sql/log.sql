-- The bare lines of history of a batch. ?1 ids  ?2 token  ?3 now
INSERT INTO gen_durable_history (instance_id, visit, from_step, outcome, attempt, worker, started_at, committed_at)
SELECT g.id, g.transitions, g.step, 'done', g.attempt, ?2, ?3, ?3
FROM json_each(?1) AS i JOIN gen_durable AS g ON g.id = i.value
