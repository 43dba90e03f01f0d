-- signals, as binary.rs writes it. Ids are taken as they come.
COPY {schema}.signals (
  id, target_id, name, payload, dedup_key, inserted_at, consumed_at
) FROM STDIN (FORMAT binary)
