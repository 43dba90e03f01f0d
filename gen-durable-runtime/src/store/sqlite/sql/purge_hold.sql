-- Those of these instances that still have ended so long ago, in the transaction in which they go; and their signals, each
-- counted to 10,001. Index: the primary key; signals_target. ?1 ids  ?2 ended before this moment
SELECT g.id, (SELECT count(*) FROM (SELECT 1 FROM signals AS s WHERE s.target_id = g.id LIMIT 10001)) AS signals
FROM gen_durable AS g NOT INDEXED
WHERE g.id IN (SELECT value FROM json_each(?1)) AND g.status IN ('done', 'failed') AND g.updated_at < ?2
