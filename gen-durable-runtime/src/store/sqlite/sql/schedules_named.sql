-- Schedules as they stand, by name: these. Index: the primary key. ?1 names as JSON
SELECT s.name, s.code, s.fsm, s.fsm_version, s.step, s.every_us, s.cron, s.tz, s.skip_missed, s.state, s.carry, s.queue,
  s.priority, s.delay_us, s.slot_field, s.revision, s.last_id, s.last_new, s.last_error, s.next_at AS next_us,
  s.paused_at AS paused_us, s.known_at AS known_us, s.last_at AS last_us, s.fired_at AS fired_us, s.missed_at AS missed_us
FROM gen_durable_schedules AS s
WHERE s.name IN (SELECT value FROM json_each(?1))
ORDER BY s.name
