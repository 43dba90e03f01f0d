-- Moves schedules that are held to their next slots, and says what became of the slots that had come.
-- Index: the primary key. $1 names  $2 next slots  $3 the slots that were fired, NULL: none  $4 their instances
-- $5 whether those were started for them  $6 the latest slots that got no instance
UPDATE {schema}.gen_durable_schedules s
SET next_at = to_timestamp(i.next_us / 1000000.0),
    last_at = coalesce(to_timestamp(i.slot_us / 1000000.0), s.last_at),
    fired_at = CASE WHEN i.slot_us IS NULL THEN s.fired_at ELSE now() END,
    last_id = coalesce(i.instance, s.last_id),
    last_new = coalesce(i.new, s.last_new),
    missed_at = coalesce(to_timestamp(i.missed_us / 1000000.0), s.missed_at),
    last_error = NULL, revision = s.revision + 1, updated_at = now()
FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::boolean[], $6::bigint[]) WITH ORDINALITY
  AS i(name, next_us, slot_us, instance, new, missed_us, ord)
WHERE s.name = i.name AND i.ord * 0 = 0 -- expects one row: see commit.sql
