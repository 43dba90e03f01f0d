-- The limits with these names, and the time: always a row. Index: the primary key. $1 kinds  $2 names
SELECT c.kind, c.name, c.capacity, coalesce(c.rate, 0) AS rate, c.shards,
  (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now_us
FROM (SELECT 1) one
LEFT JOIN (
  SELECT c.* FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS i(kind, name, ord)
  JOIN {schema}.gen_durable_bucket_configs c ON c.kind = i.kind AND c.name = i.name
  WHERE i.ord * 0 = 0 -- expects one row: see commit.sql
) c ON true
