-- One row of signals; its parameters are its columns.
INSERT INTO signals (
  id, target_id, name, payload, dedup_key, inserted_at, consumed_at
) VALUES (
  ?, ?, ?, ?, ?, ?, ?
)
