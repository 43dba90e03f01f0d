-- Counts instances, but never more than $1.
SELECT pg_catalog.count(*) FROM (SELECT 1 FROM {schema}.gen_durable LIMIT $1) AS counted
