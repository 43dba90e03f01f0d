-- Time passes. $1 microseconds. Index: none, every row moves.
WITH lines AS (
  UPDATE gen_durable_history SET committed_at = committed_at - $1 * interval '1 microsecond'
), counters AS (
  UPDATE gen_durable_buckets
  SET last_refill = last_refill - $1 * interval '1 microsecond', promised_at = promised_at - $1 * interval '1 microsecond'
)
UPDATE gen_durable
SET eligible_at = eligible_at - $1 * interval '1 microsecond',
    due_at = due_at - $1 * interval '1 microsecond',
    deadline_at = deadline_at - $1 * interval '1 microsecond',
    await_deadline = await_deadline - $1 * interval '1 microsecond',
    lease_expires_at = lease_expires_at - $1 * interval '1 microsecond',
    updated_at = updated_at - $1 * interval '1 microsecond'
