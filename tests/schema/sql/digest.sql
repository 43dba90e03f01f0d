-- The rows of the columns that every version has, as text.
SELECT concat_ws(' | ', g.id, g.fsm, g.step, g.status, g.state, g.concurrency_key, g.correlation_guard, g.parent_id, g.inserted_at)
FROM {schema}.gen_durable g
UNION ALL
SELECT concat_ws(' | ', 'signal', s.id, s.target_id, s.name, s.payload, s.dedup_key, s.inserted_at) FROM {schema}.signals s
ORDER BY 1
