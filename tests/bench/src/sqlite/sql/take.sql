-- The bare claim: what the engine's claim changes, nothing more. ?1 ids  ?2 token  ?3 now
UPDATE gen_durable AS g SET status = 'executing', locked_by = ?2, lease_expires_at = ?3 + 30000000, updated_at = ?3
WHERE g.id IN (SELECT value FROM json_each(?1))
RETURNING id, fsm, step, state, attempt, transitions
