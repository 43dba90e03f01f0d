-- What `show` does not tell, of every instance, and every inbox: one JSON text. Index: none, the tables are small.
SELECT json_object(
  'instances', (SELECT json_group_array(json_array(g.id, json_object(
      'errors', g.errors, 'received', json(g.received), 'home_queue', g.home_queue, 'home_priority', g.home_priority,
      'concurrency_key', g.concurrency_key, 'scope', json(g.correlation_scope)))) FROM gen_durable g),
  'letters', (SELECT json_group_array(json_object(
      'id', s.id, 'target', s.target_id, 'name', s.name, 'payload', json(s.payload), 'dedup', s.dedup_key,
      'consumed', json(iif(s.consumed_at IS NULL, 'false', 'true'))) ORDER BY s.id) FROM signals s))
