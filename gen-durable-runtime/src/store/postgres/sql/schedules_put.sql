-- Makes a schedule, or writes what it starts and when anew: only as it was read, so of two writers one wins. What it did and
-- whether it is paused stay. A revision begins with the time, so that one of a schedule that was removed never comes back.
-- Index: the primary key.
-- $1 name  $2 code  $3 machine  $4 version  $5 step  $6 every_us  $7 cron  $8 tz  $9 skip_missed  $10 state  $11 carry  $12 queue
-- $13 priority  $14 delay_us  $15 slot_field  $16 next slot  $17 the revision that was read, NULL: there was none
INSERT INTO {schema}.gen_durable_schedules AS s (name, code, fsm, fsm_version, step, every_us, cron, tz, skip_missed, state, carry,
  queue, priority, delay_us, slot_field, next_at, revision, known_at)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text::jsonb, $11::text::jsonb, $12, $13, $14, $15,
  to_timestamp($16::bigint / 1000000.0), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, CASE WHEN $2 THEN now() END
WHERE $17::bigint IS NULL OR EXISTS (SELECT FROM {schema}.gen_durable_schedules e WHERE e.name = $1)
ON CONFLICT (name) DO UPDATE
SET code = excluded.code, fsm = excluded.fsm, fsm_version = excluded.fsm_version, step = excluded.step,
    every_us = excluded.every_us, cron = excluded.cron, tz = excluded.tz, skip_missed = excluded.skip_missed,
    state = excluded.state, carry = excluded.carry, queue = excluded.queue, priority = excluded.priority,
    delay_us = excluded.delay_us, slot_field = excluded.slot_field, next_at = excluded.next_at,
    known_at = coalesce(excluded.known_at, s.known_at), last_error = NULL, revision = s.revision + 1, updated_at = now()
WHERE s.revision = $17
RETURNING s.name
