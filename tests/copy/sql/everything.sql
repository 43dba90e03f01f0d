-- Every status and every column, by hand, on SQLite: what no copy may lose. Moments are microseconds.
INSERT INTO gen_durable (id, fsm, fsm_version, step, status, state, carry, queue, priority, home_queue, home_priority,
  eligible_at, weight, inserted_at, updated_at)
VALUES (1, 'checkout', 3, 'reserve', 'runnable', '{"b": 1,  "a": [1, 2.5, 1e2, null, "é\n\"\\\t"]}', '{"tenant": "x"}',
  'default', -5, 'home', 7, 1893456000000001, 0.30000000000000004, 1700000000123456, 1700000000123457);
-- A claim whose lease is over, behind a K = 1 key; its process crashed.
INSERT INTO gen_durable (id, fsm, step, status, state, concurrency_key, attempt, errors, crashes, transitions, locked_by,
  lease_expires_at, eligible_at, inserted_at, updated_at)
VALUES (2, 'checkout', 'ship', 'executing', '{}', 'lock:a:b', 3, 2, 1, 9007199254740993, 'host.boot.ns.1.1#7',
  1700000030000000, -1, 1700000000000000, 1700000000000000);
-- Parked, with a live signal and two consumed ones.
INSERT INTO gen_durable (id, fsm, step, status, state, awaits, await_deadline, correlation_key, correlation_scope,
  eligible_at, inserted_at, updated_at)
VALUES (3, 'checkout', 'await_payment', 'awaiting_signal', '{"order": 9007199254740993}', '["paid","de:clined \"x\""]',
  1893456000999999, 'checkout:3', '["runnable","executing","awaiting_signal","awaiting_children"]', 0, 0, 0);
INSERT INTO gen_durable (id, fsm, step, status, children_pending, eligible_at, inserted_at, updated_at)
VALUES (4, 'fulfil', 'collect', 'awaiting_children', 1, 4, 4, 4);
INSERT INTO gen_durable (id, fsm, step, status, result, parent_id, eligible_at, inserted_at, updated_at)
VALUES (5, 'pick', 'pick', 'runnable', NULL, 4, 5, 5, 5), (6, 'pick', 'pick', 'done', '{"sum": -0.5}', 4, 6, 6, 6),
  (7, 'pick', 'pick', 'done', 'null', 7, 7, 7, 7);
-- Failed, with a kept key.
INSERT INTO gen_durable (id, fsm, step, status, attempt, errors, last_error, correlation_key, correlation_scope,
  eligible_at, inserted_at, updated_at)
VALUES (8, 'checkout', 'ship', 'failed', 5, 5, 'no carrier: ''x''' || char(10) || 'ünïcode 🚚 \N', 'checkout:8',
  '["runnable","executing","awaiting_signal","awaiting_children","done","failed"]', 8, 8, 8);
-- A child before its parent, put aside for good, and a key that its status gave up.
INSERT INTO gen_durable (id, fsm, step, status, parent_id, rate_limit, weight, correlation_key, correlation_scope,
  eligible_at, inserted_at, updated_at)
VALUES (9, 'pick', 'pick', 'runnable', 12, 'carrier:1', 1e-300, 'checkout:9', '["executing"]', 9223372036854775807, 9, 9),
  (10, 'pick', 'pick', 'runnable', 12, NULL, 5e-324, NULL, '[]', -9223372036854775808, 10, 10);
-- Claimed with a shard of its gate; a visit that received signals, and one that timed out.
INSERT INTO gen_durable (id, fsm, step, status, concurrency_key, concurrency_shard, received, locked_by, lease_expires_at,
  eligible_at, inserted_at, updated_at)
VALUES (11, 'checkout', 'ship', 'executing', 'gate', 3, '[5,9007199254740993]', 'w', 11, 11, 11, 11);
INSERT INTO gen_durable (id, fsm, step, status, awaits, received, children_pending, eligible_at, inserted_at, updated_at)
VALUES (12, 'fulfil', 'collect', 'awaiting_children', '[]', '[]', 2, 12, 12, 12);
-- Larger than a page.
INSERT INTO gen_durable (id, fsm, step, status, state, eligible_at, inserted_at, updated_at)
VALUES (13, 'large', 'only', 'runnable', '{"text": "' || replace(hex(zeroblob(5000000)), '0', 'x') || '"}', 13, 13, 13),
  (20, 'gone', 'only', 'done', '{}', 20, 20, 20);
-- Ids never come back.
DELETE FROM gen_durable WHERE id = 20;

INSERT INTO signals (id, target_id, name, payload, dedup_key, inserted_at, consumed_at)
VALUES (5, 3, 'paid', '{"payment": 1}', NULL, 1700000000000001, NULL),
  (6, 3, 'paid', '{}', 'once', 6, 1700000000000007), (7, 3, 'other', '{}', 'twice:é', 7, 8),
  (8, 8, 'paid', '{"kept": "by a failed one"}', 'once', 8, NULL), (30, 8, 'gone', '{}', NULL, 30, NULL);
DELETE FROM signals WHERE id = 30;

INSERT INTO gen_durable_bucket_configs (kind, name, rate, capacity, shards)
VALUES ('rate', 'carrier', 1.6666666666666667, 20, 8), ('conc', 'carrier', NULL, 3, 1);
INSERT INTO gen_durable_buckets (kind, key, shard, capacity, available, last_refill)
VALUES ('rate', 'carrier:1', 0, 2.5, 0.1, 1700000000000001), ('rate', 'carrier:1', 1, 2.5, 2.5, 1700000000000002),
  ('conc', 'carrier:1', 0, 3, 0, NULL);

-- Lines of an instance that stands and of one that went, and ids that never come back.
INSERT INTO gen_durable_history (id, instance_id, visit, from_step, to_step, outcome, attempt, worker, started_at,
  committed_at, error)
VALUES (3, 8, 9007199254740993, 'ship', NULL, 'failed', 5, 'host.boot.ns.1.1#7', 1700000000123456, 1700000000123457,
    'no carrier: ''x''' || char(10) || 'ünïcode 🚚 \N'),
  (9, 20, 0, 'only', NULL, 'done', 0, NULL, 0, 9223372036854775807, NULL),
  (12, 3, 1, 'reserve', 'await_payment', 'wait', 2147483647, 'w', -1, 5, NULL),
  (40, 3, 2, 'gone', NULL, 'done', 0, 'w', 4, 5, NULL);
DELETE FROM gen_durable_history WHERE id = 40;

INSERT INTO gen_durable_schedules (name, code, fsm, fsm_version, step, every_us, cron, tz, skip_missed, state, carry, queue,
  priority, delay_us, slot_field, next_at, revision, paused_at, known_at, last_at, fired_at, last_id, last_new, missed_at,
  last_error, inserted_at, updated_at)
VALUES
  ('order:reserve', 1, 'order', 2, 'reserve', NULL, '0 9 * * mon', 'Europe/Berlin', 1, NULL, NULL, NULL, NULL, 0, NULL,
    1700000000000000, 1690000000000001, NULL, 1699999999999999, 1699990000000000, 1699990000000003, 7, 1, 1699980000000000,
    NULL, 1690000000000000, 1699990000000003),
  ('ein Bericht', 0, 'order', 1, 'reserve', 90000000, NULL, NULL, 0, '{"order":1,"x":18446744073709551615}', '{"a":null}', 'q',
    -3, 5000000, 'at', NULL, 9223372036854775807, 1700000000000005, NULL, NULL, NULL, NULL, NULL, NULL, 'it''s ''so''', 1,
    9223372036854775807);

INSERT INTO gen_durable_queues (queue, paused_at) VALUES ('mail', 1700000000000007), ('ünïcode', 1);
