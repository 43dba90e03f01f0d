-- Time passes. $1 microseconds. Index: none, every row moves, but for what is put aside for ever.
UPDATE gen_durable
SET eligible_at = CASE eligible_at WHEN 9223372036854775807 THEN eligible_at ELSE eligible_at - $1 END,
  due_at = due_at - $1, deadline_at = deadline_at - $1,
  await_deadline = await_deadline - $1, lease_expires_at = lease_expires_at - $1,
  updated_at = updated_at - $1;
UPDATE gen_durable_buckets SET last_refill = last_refill - $1, promised_at = promised_at - $1;
UPDATE gen_durable_history SET committed_at = committed_at - $1
