-- The bare look for due rows. ?1 rows  ?2 now
SELECT g.id FROM gen_durable g INDEXED BY gen_durable_pick
WHERE g.queue = 'default' AND g.status = 'runnable' AND g.eligible_at <= ?2
ORDER BY g.priority, g.eligible_at LIMIT ?1
