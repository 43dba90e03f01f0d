-- Who occupies business keys. Index: gen_durable_correlation. ?1 keys
SELECT g.correlation_guard AS key, g.id FROM gen_durable g
WHERE g.correlation_guard IN (SELECT value FROM json_each(?1))
