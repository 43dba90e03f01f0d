-- One instance, by id or by business key. Index: the primary key; gen_durable_correlation.
-- $1 id  $2 business key
SELECT g.id, g.fsm, g.fsm_version, g.step, g.status::text AS status, g.state::text AS state, g.carry::text AS carry,
  g.result::text AS result, g.last_error, coalesce(g.awaits, '{}') AS awaits, g.correlation_key, g.queue, g.priority,
  g.attempt, g.crashes, g.transitions, g.locked_by,
  (extract(epoch FROM g.await_deadline) * 1000000)::bigint AS await_deadline_us,
  (extract(epoch FROM g.eligible_at) * 1000000)::bigint AS eligible_us,
  (extract(epoch FROM g.lease_expires_at) * 1000000)::bigint AS lease_us,
  (extract(epoch FROM g.inserted_at) * 1000000)::bigint AS inserted_us,
  (extract(epoch FROM g.updated_at) * 1000000)::bigint AS updated_us
FROM {schema}.gen_durable g
WHERE g.id = coalesce($1, (SELECT k.id FROM {schema}.gen_durable k WHERE k.correlation_guard = $2))
