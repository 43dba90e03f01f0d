-- Two instances, parent and child, one executing under a key, and two signals.
INSERT INTO {schema}.gen_durable (fsm, step, status, state, concurrency_key, correlation_key, correlation_scope)
VALUES ('order', 'ship', 'executing', '{"order": 7}', 'lock:7', 'order:7', '{runnable,executing}');
INSERT INTO {schema}.gen_durable (fsm, step, status, parent_id) SELECT 'item', 'pick', 'runnable', max(id) FROM {schema}.gen_durable;
INSERT INTO {schema}.signals (target_id, name, payload, dedup_key)
SELECT id, 'paid', '{"n": 1}'::jsonb, 'k1' FROM {schema}.gen_durable WHERE fsm = 'order'
UNION ALL SELECT id, 'paid', '{"n": 2}', NULL FROM {schema}.gen_durable WHERE fsm = 'order'
