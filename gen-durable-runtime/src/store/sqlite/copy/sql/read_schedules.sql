-- Every schedule. Index: the primary key.
SELECT
  name, code, fsm, fsm_version, step, every_us, cron, tz, skip_missed, state, carry, queue, priority, delay_us,
  slot_field, next_at, revision, paused_at, known_at, last_at, fired_at, last_id, last_new, missed_at,
  last_error, inserted_at, updated_at
FROM gen_durable_schedules
ORDER BY name
