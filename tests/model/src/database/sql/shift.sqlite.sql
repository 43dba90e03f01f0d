-- Time passes. $1 microseconds. Index: none, every row moves.
UPDATE gen_durable
SET eligible_at = eligible_at - $1, await_deadline = await_deadline - $1, lease_expires_at = lease_expires_at - $1;
UPDATE gen_durable_history SET committed_at = committed_at - $1
