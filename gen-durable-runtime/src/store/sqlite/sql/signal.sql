-- Puts signals into inboxes, in order; a second one with a dedup key is left out.
-- Index: the unique dedup key. ?1 [[id, target, name, payload, dedup key], ..]  ?2 now
INSERT INTO signals (id, target_id, name, payload, dedup_key, inserted_at)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, ?2
FROM json_each(?1) AS i WHERE true ORDER BY i.key
ON CONFLICT (target_id, dedup_key) DO NOTHING
RETURNING id
