-- Schedules of these machines whose slot has come. Index: gen_durable_schedules_next, for each machine.
-- ?1 machines as JSON  ?2 now  ?3 limit  ?4 after this slot, or NULL  ?5 and this name
SELECT s.name, s.code, s.fsm, s.fsm_version, s.step, s.every_us, s.cron, s.tz, s.skip_missed, s.state, s.carry, s.queue,
  s.priority, s.delay_us, s.slot_field, s.revision, s.last_id, s.last_new, s.last_error, s.next_at AS next_us,
  s.paused_at AS paused_us, s.known_at AS known_us, s.last_at AS last_us, s.fired_at AS fired_us, s.missed_at AS missed_us
FROM gen_durable_schedules AS s
WHERE s.fsm IN (SELECT value FROM json_each(?1)) AND s.paused_at IS NULL AND s.next_at IS NOT NULL AND s.next_at <= ?2
  AND (?4 IS NULL OR (s.next_at, s.name) > (?4, ?5))
ORDER BY s.next_at, s.name LIMIT ?3
