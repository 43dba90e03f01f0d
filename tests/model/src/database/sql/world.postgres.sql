-- What `show` does not tell, of every instance, and every inbox: one JSON text. Index: none, the tables are small.
SELECT json_build_object(
  'instances', coalesce((SELECT json_agg(json_build_array(g.id, json_build_object(
      'errors', g.errors, 'received', to_json(g.received), 'home_queue', g.home_queue, 'home_priority', g.home_priority,
      'concurrency_key', g.concurrency_key, 'scope', to_json(g.correlation_scope),
      'parent', g.parent_id, 'round', g.parent_round, 'place', g.child_index, 'counted', coalesce(g.counted, false),
      'pending', g.children_pending, 'ended_well', g.children_done))) FROM gen_durable g), '[]'),
  'letters', coalesce((SELECT json_agg(json_build_object(
      'id', s.id, 'target', s.target_id, 'name', s.name, 'payload', s.payload, 'dedup', s.dedup_key,
      'consumed', s.consumed_at IS NOT NULL) ORDER BY s.id) FROM signals s), '[]'),
  'lines', coalesce((SELECT json_agg(json_build_object(
      'instance', h.instance_id, 'visit', h.visit, 'from', h.from_step, 'to', h.to_step, 'outcome', h.outcome,
      'attempt', h.attempt, 'worker', h.worker, 'error', h.error,
      'started', (extract(epoch FROM h.started_at) * 1000000)::bigint) ORDER BY h.id)
    FROM gen_durable_history h), '[]'))::text
