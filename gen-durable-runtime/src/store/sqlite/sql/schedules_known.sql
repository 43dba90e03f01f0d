-- Says that the code of a live worker has these schedules. Index: the primary key. ?1 names as JSON  ?2 now
UPDATE gen_durable_schedules SET known_at = ?2 WHERE name IN (SELECT value FROM json_each(?1))
