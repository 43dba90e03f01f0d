-- Wakes the instances that wait for what was just put into their inbox. A park in progress is another transaction,
-- before this one or after it, so one of the two always sees the other. A signal that leaves the step wakes whatever does
-- not execute; what executes finds it when it commits.
-- Index: the primary key; signals_inbox. ?1 instances  ?2 the first of the new signals  ?3 now
UPDATE gen_durable AS g
SET status = 'runnable', eligible_at = CASE WHEN g.status = 'runnable' THEN min(g.eligible_at, ?3) ELSE ?3 END,
    updated_at = ?3
WHERE g.id IN (SELECT value FROM json_each(?1)) AND (
  +g.status = 'awaiting_signal' AND EXISTS (
    SELECT 1 FROM signals s
    WHERE s.target_id = g.id AND s.id >= ?2 AND s.consumed_at IS NULL
      AND s.name IN (SELECT value FROM json_each(g.awaits)))
  AND (g.await_mode IS NULL OR (
    -- One of each group, or so many.
    SELECT CASE WHEN g.await_mode = 2 THEN count(DISTINCT g.await_groups ->> w.key) ELSE count(*) END
    FROM json_each(g.awaits) AS w
    JOIN signals s ON s.target_id = g.id AND s.consumed_at IS NULL AND s.name = w.value) >= g.await_need)
  OR g.exit_signals IS NOT NULL AND g.cancelled_at IS NULL AND +g.status NOT IN ('executing', 'done', 'failed') AND EXISTS (
    SELECT 1 FROM signals s
    WHERE s.target_id = g.id AND s.id >= ?2 AND s.consumed_at IS NULL
      AND s.name IN (SELECT value FROM json_each(g.exit_signals))))
RETURNING id
