-- Many instances on Postgres, a tenth of them with a signal and a line of history.
INSERT INTO gen_durable (fsm, step, status, state, awaits, correlation_key, correlation_scope)
SELECT 'checkout', 'await_payment', 'awaiting_signal',
  jsonb_build_object('order', i, 'note', '{note}'), '{paid}', 'checkout:' || i,
  '{runnable,executing,awaiting_signal,awaiting_children}'
FROM generate_series(1, {rows}) AS i;
INSERT INTO signals (target_id, name, payload) SELECT id, 'paid', '{"payment": 1}' FROM gen_durable WHERE id % 10 = 0;
INSERT INTO gen_durable_history (instance_id, visit, from_step, to_step, outcome, attempt, started_at, committed_at)
SELECT id, 0, 'reserve', 'await_payment', 'wait', 0, now(), now() FROM gen_durable WHERE id % 10 = 0;
