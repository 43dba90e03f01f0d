-- How the children of one round stand, by machine, as their parent counted them.
-- Index: gen_durable_parent. ?1 parent  ?2 round
SELECT c.fsm, count(*) AS started, count(*) FILTER (WHERE c.counted AND c.status = 'done') AS done,
  count(*) FILTER (WHERE c.counted AND c.status = 'failed') AS failed
FROM gen_durable c
WHERE c.parent_id = ?1 AND (c.parent_round = ?2 OR c.parent_round IS NULL)
GROUP BY c.fsm
