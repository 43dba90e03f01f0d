-- Leases the rows that were chosen. A unique index arbitrates K = 1 keys here too: none is ever held twice.
-- Index: the primary key; signals_inbox; gen_durable_parent for the cancelled.
-- ?1 [[id, slot of its gate], ..]  ?2 token  ?3 lease ends at  ?4 now
UPDATE gen_durable AS g NOT INDEXED
SET status = 'executing',
    locked_by = ?2,
    lease_expires_at = ?3,
    concurrency_shard = i.value ->> 1,
    blocked_by = NULL,
    due_at = NULL,
    updated_at = ?4,
    -- What ends the wait is settled once; every retry of the visit sees the same.
    received = CASE
      WHEN g.awaits IS NULL OR g.received IS NOT NULL THEN g.received
      WHEN g.await_mode IS NULL THEN coalesce(
        (SELECT json_array(s.id) FROM signals s
         WHERE s.target_id = g.id AND s.consumed_at IS NULL AND s.name IN (SELECT value FROM json_each(g.awaits))
         ORDER BY s.id LIMIT 1),
        CASE WHEN g.await_deadline <= ?4 THEN '[]' END)
      -- Several: the oldest of each group, or the oldest ones. At the deadline what has come.
      ELSE (
        SELECT CASE WHEN count(*) >= g.await_need OR g.await_deadline <= ?4
          THEN json_group_array(p.id ORDER BY p.id) END
        FROM (
          SELECT s.id, row_number() OVER (PARTITION BY CASE WHEN g.await_mode = 2 THEN g.await_groups ->> w.key END
            ORDER BY CASE WHEN g.await_mode = 1 THEN g.await_groups ->> w.key END, s.id) AS nth
          FROM json_each(g.awaits) AS w
          JOIN signals s ON s.target_id = g.id AND s.consumed_at IS NULL AND s.name = w.value) AS p
        WHERE p.nth <= CASE WHEN g.await_mode = 2 THEN 1 ELSE g.await_need END)
    END
FROM json_each(?1) AS i
WHERE g.id = i.value ->> 0
-- Few values a row: each costs an allocation on its way out of the file's thread. What may be large goes as it is.
RETURNING json_array(id, concurrency_shard, fsm, fsm_version, step, attempt, errors, crashes, transitions, priority,
  home_queue, home_priority, concurrency_key, parent_id, parent_round, cancelled_at IS NOT NULL AND NOT shielded,
  expired_at IS NOT NULL AND expires AND cancelled_at IS NULL, exit_signals IS NOT NULL AND cancelled_at IS NULL,
  awaits IS NOT NULL, received,
  cancelled_at IS NOT NULL AND EXISTS (SELECT 1 FROM gen_durable c WHERE c.parent_id = gen_durable.id)) AS taken, state, carry
