-- Schedules of these machines whose slot has come. There is always a row: it carries the database's time, when the next slot of
-- one of them comes, and whether there is any schedule at all.
-- Index: gen_durable_schedules_next, in order, for each machine. Lock: none; schedules_hold.sql takes it.
-- $1 machines  $2 limit  $3 after this slot, microseconds of the epoch, or NULL  $4 and this name
WITH due AS MATERIALIZED (
  SELECT d.* FROM unnest($1::text[]) AS m(fsm) CROSS JOIN LATERAL (
    SELECT s.* FROM {schema}.gen_durable_schedules s
    WHERE s.fsm = m.fsm AND s.paused_at IS NULL AND s.next_at IS NOT NULL AND s.next_at <= now() AND s.next_at > '-infinity'
      AND ($3::bigint IS NULL OR (s.next_at, s.name) > (to_timestamp($3 / 1000000.0), $4::text))
    ORDER BY s.next_at, s.name LIMIT $2) d
  ORDER BY d.next_at, d.name LIMIT $2
)
SELECT n.now_us, n.until_us, n.some,
  d.name, d.code, d.fsm, d.fsm_version, d.step, d.every_us, d.cron, d.tz, d.skip_missed, d.state::text AS state,
  d.carry::text AS carry, d.queue, d.priority, d.delay_us, d.slot_field, d.revision, d.last_id, d.last_new, d.last_error,
  (extract(epoch FROM CASE WHEN isfinite(d.next_at) THEN d.next_at END) * 1000000)::bigint AS next_us,
  (extract(epoch FROM d.paused_at) * 1000000)::bigint AS paused_us,
  (extract(epoch FROM d.known_at) * 1000000)::bigint AS known_us,
  (extract(epoch FROM d.last_at) * 1000000)::bigint AS last_us,
  (extract(epoch FROM d.fired_at) * 1000000)::bigint AS fired_us,
  (extract(epoch FROM d.missed_at) * 1000000)::bigint AS missed_us
FROM (
  SELECT (extract(epoch FROM now()) * 1000000)::bigint AS now_us,
    EXISTS (SELECT FROM {schema}.gen_durable_schedules) AS some,
    (extract(epoch FROM (SELECT min(t.next_at) FROM unnest($1::text[]) AS m(fsm) CROSS JOIN LATERAL (
      SELECT s.next_at FROM {schema}.gen_durable_schedules s
      WHERE s.fsm = m.fsm AND s.paused_at IS NULL AND s.next_at IS NOT NULL AND s.next_at > now() AND s.next_at < 'infinity'
      ORDER BY s.next_at LIMIT 1) t) - clock_timestamp()) * 1000000)::bigint AS until_us) n
LEFT JOIN due d ON true
ORDER BY d.next_at, d.name
