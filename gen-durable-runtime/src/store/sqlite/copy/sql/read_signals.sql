-- Every signal, consumed ones too. Index: the primary key.
SELECT
  id, target_id, name, payload, dedup_key, inserted_at, consumed_at
FROM signals
ORDER BY id
