-- Lets a failed instance go on from the step that failed: the visit is the same, so is its idempotency key, and it has
-- its attempts anew. Index: the primary key; gen_durable_correlation. ?1 id  ?2 now
UPDATE gen_durable AS g
SET status = 'runnable', errors = 0, crashes = 0, eligible_at = ?2, updated_at = ?2, cancelled_at = NULL,
    cancel_reason = NULL
WHERE g.id = ?1 AND +g.status = 'failed'
RETURNING id, queue
