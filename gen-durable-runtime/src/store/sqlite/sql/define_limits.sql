-- Inserts limits, and changes those that differ and that no operator has set, or all for a reset; answers with what is new or has changed.
-- Index: the primary key. ?1 [[kind, name, capacity, tokens a second, shards], ..]  ?2 an operator says so
-- ?3 a reset: whatever an operator said
INSERT INTO gen_durable_bucket_configs AS c (kind, name, capacity, rate, shards, by_operator)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, ?2 FROM json_each(?1) AS i WHERE true
ON CONFLICT (kind, name) DO UPDATE
SET capacity = excluded.capacity, rate = excluded.rate, shards = excluded.shards, by_operator = excluded.by_operator
WHERE (NOT c.by_operator OR excluded.by_operator OR ?3)
  AND (c.capacity <> excluded.capacity OR c.rate IS NOT excluded.rate OR c.shards <> excluded.shards
    OR c.by_operator <> excluded.by_operator)
RETURNING kind, name
