-- Every signal, consumed ones too. Index: the primary key, or a sort.
SELECT
  id, target_id, name, payload::text, dedup_key,
  CASE inserted_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM inserted_at) * 1000000)::bigint END,
  CASE consumed_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM consumed_at) * 1000000)::bigint END
FROM {schema}.signals
ORDER BY id
