-- How the children of an instance stand: of its last round, or of all. Another engine's are of any round.
-- Index: gen_durable_parent. ?1 parent  ?2 of all rounds
SELECT count(*) AS started, count(*) FILTER (WHERE c.status = 'done') AS done,
  count(*) FILTER (WHERE c.status = 'failed') AS failed
FROM gen_durable c
WHERE c.parent_id = ?1 AND (?2 OR c.parent_round IS NULL
  OR c.parent_round = (SELECT max(l.parent_round) FROM gen_durable l WHERE l.parent_id = ?1))
