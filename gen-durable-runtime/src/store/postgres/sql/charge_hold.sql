-- Locks the counters of rate limits' keys that outcomes charge, in the transaction that commits them: buckets.sql reads them then.
-- Index: the primary key. Lock: in the order of keys, as counters.sql, and after those of gates; it waits, for a claim or a commit
-- of the same key. $1 keys
SELECT b.key FROM unnest($1::text[]) WITH ORDINALITY AS i(key, ord)
JOIN {schema}.gen_durable_buckets b ON b.kind = 'rate' AND b.key = i.key
WHERE i.ord * 0 = 0 -- expects one row: see commit.sql
ORDER BY b.key, b.shard
FOR UPDATE OF b
