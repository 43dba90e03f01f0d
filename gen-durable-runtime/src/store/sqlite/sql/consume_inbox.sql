-- Empties the inboxes of instances that are done. Index: signals_target. ?1 instances
DELETE FROM signals WHERE target_id IN (SELECT value FROM json_each(?1))
