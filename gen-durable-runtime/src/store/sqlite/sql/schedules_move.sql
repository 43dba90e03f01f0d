-- Moves schedules to their next slots, and says what became of the slots that had come.
-- Index: the primary key. ?1 [[name, next slot, the slot that was fired or null, its instance, whether that was started for it, the
-- latest slot that got no instance], ..]  ?2 now
UPDATE gen_durable_schedules AS s
SET next_at = i.next_at,
    last_at = coalesce(i.slot, s.last_at),
    fired_at = CASE WHEN i.slot IS NULL THEN s.fired_at ELSE ?2 END,
    last_id = coalesce(i.instance, s.last_id),
    last_new = coalesce(i.new, s.last_new),
    missed_at = coalesce(i.missed, s.missed_at),
    last_error = NULL, revision = s.revision + 1, updated_at = ?2
FROM (SELECT value ->> 0 AS name, value ->> 1 AS next_at, value ->> 2 AS slot, value ->> 3 AS instance, value ->> 4 AS new,
    value ->> 5 AS missed FROM json_each(?1)) AS i
WHERE s.name = i.name
