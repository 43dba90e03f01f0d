-- Inserts limits, and changes those that differ and that no operator has set, or all for a reset; answers with what is new or has changed.
-- Index: the primary key.
-- $1 kinds  $2 names  $3 capacities  $4 tokens a second  $5 shards  $6 an operator says so  $7 a reset: whatever an operator said
INSERT INTO {schema}.gen_durable_bucket_configs AS c (kind, name, capacity, rate, shards, by_operator)
SELECT i.kind, i.name, i.capacity, i.rate, i.shards, $6
FROM unnest($1::text[], $2::text[], $3::float8[], $4::float8[], $5::smallint[]) AS i(kind, name, capacity, rate, shards)
ORDER BY i.kind, i.name
ON CONFLICT (kind, name) DO UPDATE
SET capacity = excluded.capacity, rate = excluded.rate, shards = excluded.shards, by_operator = excluded.by_operator
WHERE (NOT c.by_operator OR excluded.by_operator OR $7)
  AND (c.capacity, c.rate, c.shards, c.by_operator)
    IS DISTINCT FROM (excluded.capacity, excluded.rate, excluded.shards, excluded.by_operator)
RETURNING c.kind, c.name
