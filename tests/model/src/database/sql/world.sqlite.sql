-- What `show` does not tell, of every instance, and every inbox: one JSON text. Index: none, the tables are small.
SELECT json_object(
  'instances', (SELECT json_group_array(json_array(g.id, json_object(
      'errors', g.errors, 'received', json(g.received), 'home_queue', g.home_queue, 'home_priority', g.home_priority,
      'concurrency_key', g.concurrency_key, 'scope', json(g.correlation_scope),
      'parent', g.parent_id, 'round', g.parent_round, 'place', g.child_index,
      'counted', json(iif(g.counted, 'true', 'false')), 'pending', g.children_pending,
      'ended_well', g.children_done))) FROM gen_durable g),
  'letters', (SELECT json_group_array(json_object(
      'id', s.id, 'target', s.target_id, 'name', s.name, 'payload', json(s.payload), 'dedup', s.dedup_key,
      'consumed', json(iif(s.consumed_at IS NULL, 'false', 'true'))) ORDER BY s.id) FROM signals s),
  'lines', (SELECT json_group_array(json_object(
      'instance', h.instance_id, 'visit', h.visit, 'from', h.from_step, 'to', h.to_step, 'outcome', h.outcome,
      'attempt', h.attempt, 'worker', h.worker, 'error', h.error, 'started', h.started_at) ORDER BY h.id)
    FROM gen_durable_history h))
