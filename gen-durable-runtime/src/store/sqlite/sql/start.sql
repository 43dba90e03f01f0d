-- Inserts instances, in order; one whose business key is occupied is left out.
-- Index: gen_durable_correlation, unique: of two starts of one key one wins.
--
-- ?1 [[id, machine, version, step, state, carry, key, scope as JSON, queue, priority, own queue, own priority,
--    microseconds until due, timer at, awaited names as JSON, microseconds until the wait ends, wait ends at,
--    concurrency key, await_mode, await_need, await_groups as JSON, parent, its round, place in the fan-out, shielded,
--    microseconds from due to the deadline, the deadline leaves the step, signals that leave it as JSON, rate limit key,
--    what it takes], ..]
-- ?2 now
INSERT INTO gen_durable (id, fsm, fsm_version, step, status, state, carry, awaits, queue, priority, home_queue,
  home_priority, concurrency_key, eligible_at, await_deadline, correlation_key, correlation_scope, inserted_at,
  updated_at, await_mode, await_need, await_groups, parent_id, parent_round, child_index, shielded,
  deadline_at, expires, exit_signals, rate_limit, weight)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3,
  CASE WHEN value ->> 14 IS NOT NULL AND value ->> 12 = 0 THEN 'awaiting_signal' ELSE 'runnable' END,
  value ->> 4, value ->> 5, value ->> 14, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 17,
  max(coalesce(value ->> 13, ?2), ?2 + (value ->> 12)),
  CASE WHEN value ->> 14 IS NOT NULL THEN coalesce(value ->> 16, ?2 + (value ->> 12) + (value ->> 15)) END,
  value ->> 6, value ->> 7, ?2, ?2, value ->> 18, value ->> 19, value ->> 20, value ->> 21, value ->> 22, value ->> 23,
  value ->> 24, max(coalesce(value ->> 13, ?2), ?2 + (value ->> 12)) + (value ->> 25), value ->> 26, value ->> 27,
  value ->> 28, coalesce(value ->> 29, 1.0)
FROM json_each(?1) AS i WHERE true ORDER BY i.key
ON CONFLICT (correlation_guard) WHERE correlation_guard IS NOT NULL DO NOTHING
RETURNING id
