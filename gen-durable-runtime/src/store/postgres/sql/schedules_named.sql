-- Schedules as they stand, by name: these. There is always a row: it carries the database's time.
-- Index: the primary key. $1 names
SELECT (extract(epoch FROM now()) * 1000000)::bigint AS now_us,
  s.name, s.code, s.fsm, s.fsm_version, s.step, s.every_us, s.cron, s.tz, s.skip_missed, s.state::text AS state,
  s.carry::text AS carry, s.queue, s.priority, s.delay_us, s.slot_field, s.revision, s.last_id, s.last_new, s.last_error,
  (extract(epoch FROM CASE WHEN isfinite(s.next_at) THEN s.next_at END) * 1000000)::bigint AS next_us,
  (extract(epoch FROM s.paused_at) * 1000000)::bigint AS paused_us,
  (extract(epoch FROM s.known_at) * 1000000)::bigint AS known_us,
  (extract(epoch FROM s.last_at) * 1000000)::bigint AS last_us,
  (extract(epoch FROM s.fired_at) * 1000000)::bigint AS fired_us,
  (extract(epoch FROM s.missed_at) * 1000000)::bigint AS missed_us
FROM (SELECT 1) one LEFT JOIN {schema}.gen_durable_schedules s ON s.name = ANY ($1::text[])
ORDER BY s.name COLLATE "C"
