-- Leases the rows that were chosen. A unique index arbitrates K = 1 keys here too: none is ever held twice.
-- Index: the primary key; signals_inbox. ?1 ids  ?2 token  ?3 lease ends at  ?4 now
UPDATE gen_durable AS g
SET status = 'executing',
    locked_by = ?2,
    lease_expires_at = ?3,
    concurrency_shard = NULL,
    updated_at = ?4,
    -- What ends the wait is settled once; every retry of the visit sees the same.
    received = CASE
      WHEN g.awaits IS NULL OR g.received IS NOT NULL THEN g.received
      ELSE coalesce(
        (SELECT json_array(s.id) FROM signals s
         WHERE s.target_id = g.id AND s.consumed_at IS NULL AND s.name IN (SELECT value FROM json_each(g.awaits))
         ORDER BY s.id LIMIT 1),
        CASE WHEN g.await_deadline <= ?4 THEN '[]' END)
    END
WHERE g.id IN (SELECT value FROM json_each(?1))
RETURNING id, fsm, fsm_version, step, state, carry, attempt, errors, crashes, transitions, priority, home_queue,
  home_priority, concurrency_key, awaits IS NOT NULL AS waited, received
