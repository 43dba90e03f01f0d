-- The schedules that still stand as they were read, by their numbers in the batch: within the transaction that moves them.
-- Index: the primary key. ?1 [[name, revision], ..]
SELECT i.key + 1 AS ord
FROM json_each(?1) AS i CROSS JOIN gen_durable_schedules AS s
WHERE s.name = i.value ->> 0 AND s.revision = i.value ->> 1
