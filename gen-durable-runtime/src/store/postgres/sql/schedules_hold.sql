-- Locks the schedules that still stand as they were read: whoever moves one to its next slot has it until the end of the
-- transaction, and starts that slot's instance in it. Answers with their numbers in the batch.
-- Index: the primary key. Lock: SKIP LOCKED, another worker is firing that one. $1 names  $2 revisions
SELECT i.ord
FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS i(name, revision, ord)
JOIN {schema}.gen_durable_schedules s ON s.name = i.name AND i.ord * 0 = 0 -- expects one row: see commit.sql
WHERE s.revision = i.revision
FOR NO KEY UPDATE OF s SKIP LOCKED
