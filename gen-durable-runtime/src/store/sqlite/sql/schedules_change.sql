-- Pauses a schedule, lets it go on at a slot, or notes why its slot gets no instance: only as it was read.
-- Index: the primary key. ?1 name  ?2 revision  ?3 paused  ?4 next slot  ?5 error  ?6 now
UPDATE gen_durable_schedules
SET paused_at = CASE WHEN ?3 THEN coalesce(paused_at, ?6) END, next_at = ?4, last_error = ?5, revision = revision + 1,
    updated_at = ?6
WHERE name = ?1 AND revision = ?2
RETURNING name
