-- Many instances on SQLite, a tenth of them with a signal and a line of history, each third one
-- the child of one far behind it.
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
INSERT INTO gen_durable (id, fsm, step, status, state, awaits, correlation_key, correlation_scope, parent_id)
SELECT i, 'checkout', 'await_payment', 'awaiting_signal', '{"order": ' || i || ', "note": "{note}"}',
  '["paid"]', 'checkout:' || i, '["runnable","executing","awaiting_signal","awaiting_children"]',
  CASE WHEN i % 3 = 0 AND i + 1500 <= {rows} THEN i + 1500 END
FROM n;
INSERT INTO signals (target_id, name, payload) SELECT id, 'paid', '{"payment": 1}' FROM gen_durable WHERE id % 10 = 0;
INSERT INTO gen_durable_history (instance_id, visit, from_step, to_step, outcome, attempt, started_at, committed_at)
SELECT id, 0, 'reserve', 'await_payment', 'wait', 0, 0, 0 FROM gen_durable WHERE id % 10 = 0;
