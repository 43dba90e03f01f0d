-- Many instances on Postgres, a tenth of them with a signal.
INSERT INTO gen_durable (fsm, step, status, state, awaits, correlation_key, correlation_scope)
SELECT 'checkout', 'await_payment', 'awaiting_signal',
  jsonb_build_object('order', i, 'note', '{note}'), '{paid}', 'checkout:' || i,
  '{runnable,executing,awaiting_signal,awaiting_children}'
FROM generate_series(1, {rows}) AS i;
INSERT INTO signals (target_id, name, payload) SELECT id, 'paid', '{"payment": 1}' FROM gen_durable WHERE id % 10 = 0;
