-- Every schedule. Index: the primary key, or a sort.
SELECT
  name,
  code::int::bigint,
  fsm,
  fsm_version::bigint,
  step,
  every_us,
  cron,
  tz,
  skip_missed::int::bigint,
  state::text,
  carry::text,
  queue,
  priority::bigint,
  delay_us,
  slot_field,
  CASE next_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM next_at) * 1000000)::bigint END,
  revision,
  CASE paused_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM paused_at) * 1000000)::bigint END,
  CASE known_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM known_at) * 1000000)::bigint END,
  CASE last_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM last_at) * 1000000)::bigint END,
  CASE fired_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM fired_at) * 1000000)::bigint END,
  last_id,
  last_new::int::bigint,
  CASE missed_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM missed_at) * 1000000)::bigint END,
  last_error,
  CASE inserted_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM inserted_at) * 1000000)::bigint END,
  CASE updated_at WHEN 'infinity' THEN 9223372036854775807 WHEN '-infinity' THEN (-9223372036854775808)::bigint
       ELSE (extract(epoch FROM updated_at) * 1000000)::bigint END
FROM {schema}.gen_durable_schedules
ORDER BY name COLLATE "C"
