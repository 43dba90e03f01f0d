-- Pauses a schedule, lets it go on at a slot, or notes why its slot gets no instance: only as it was read.
-- Index: the primary key. $1 name  $2 revision  $3 paused  $4 next slot  $5 error
UPDATE {schema}.gen_durable_schedules s
SET paused_at = CASE WHEN $3 THEN coalesce(s.paused_at, now()) END, next_at = to_timestamp($4::bigint / 1000000.0),
    last_error = $5, revision = s.revision + 1, updated_at = now()
WHERE s.name = $1 AND s.revision = $2
RETURNING s.name
