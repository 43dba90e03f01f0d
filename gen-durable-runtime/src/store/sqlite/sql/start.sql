-- Inserts instances, in order; one whose business key is occupied is left out.
-- Index: gen_durable_correlation, unique: of two starts of one key one wins.
--
-- ?1 [[id, machine, version, step, state, carry, key, scope as JSON, queue, priority, own queue, own priority,
--    microseconds until due, timer at, awaited names as JSON, microseconds until the wait ends, wait ends at,
--    concurrency key, await_mode, await_need, await_groups as JSON, parent, its round, place in the fan-out, shielded,
--    microseconds from due to the deadline, the deadline leaves the step, signals that leave it as JSON, rate limit key,
--    what it takes], ..]
-- ?2 now
-- Materialized: as in commit.sql.
WITH i AS MATERIALIZED (SELECT key, value AS v FROM json_each(?1))
INSERT INTO gen_durable (id, fsm, fsm_version, step, status, state, carry, awaits, queue, priority, home_queue,
  home_priority, concurrency_key, eligible_at, await_deadline, correlation_key, correlation_scope, inserted_at,
  updated_at, await_mode, await_need, await_groups, parent_id, parent_round, child_index, shielded,
  deadline_at, expires, exit_signals, rate_limit, weight)
SELECT v ->> 0, v ->> 1, v ->> 2, v ->> 3,
  CASE WHEN v ->> 14 IS NOT NULL AND v ->> 12 = 0 THEN 'awaiting_signal' ELSE 'runnable' END,
  v ->> 4, v ->> 5, v ->> 14, v ->> 8, v ->> 9, v ->> 10, v ->> 11, v ->> 17,
  max(coalesce(v ->> 13, ?2), ?2 + (v ->> 12)),
  CASE WHEN v ->> 14 IS NOT NULL THEN coalesce(v ->> 16, ?2 + (v ->> 12) + (v ->> 15)) END,
  v ->> 6, v ->> 7, ?2, ?2, v ->> 18, v ->> 19, v ->> 20, v ->> 21, v ->> 22, v ->> 23,
  v ->> 24, max(coalesce(v ->> 13, ?2), ?2 + (v ->> 12)) + (v ->> 25), v ->> 26, v ->> 27,
  v ->> 28, coalesce(v ->> 29, 1.0)
FROM i WHERE true ORDER BY i.key
ON CONFLICT (correlation_guard) WHERE correlation_guard IS NOT NULL DO NOTHING
RETURNING id
