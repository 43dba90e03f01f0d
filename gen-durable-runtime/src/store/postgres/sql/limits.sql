-- The limits with these names. Index: the primary key. $1 kinds  $2 names
SELECT c.kind, c.name, c.capacity, coalesce(c.rate, 0) AS rate, c.shards
FROM unnest($1::text[], $2::text[]) AS i(kind, name)
JOIN {schema}.gen_durable_bucket_configs c ON c.kind = i.kind AND c.name = i.name
