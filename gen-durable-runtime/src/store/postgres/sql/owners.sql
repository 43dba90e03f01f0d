-- The processes that hold claims, by their part of locked_by. Index: gen_durable_lease, once per boot.
SELECT DISTINCT split_part(g.locked_by, '#', 1) AS owner FROM {schema}.gen_durable g
WHERE g.status = 'executing' AND g.locked_by IS NOT NULL
