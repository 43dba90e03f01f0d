-- The bare signal: the row's lock, the line in the inbox, the wake. $1 ids
WITH target AS MATERIALIZED (
  SELECT g.id FROM gen_durable g WHERE g.id = ANY ($1) ORDER BY g.id FOR NO KEY UPDATE
), delivered AS (
  INSERT INTO signals (target_id, name, payload) SELECT t.id, 'go', '{}' FROM target t
)
UPDATE gen_durable g SET status = 'runnable', eligible_at = now(), updated_at = now()
FROM target t WHERE g.id = t.id AND g.status::text = 'awaiting_signal'
RETURNING g.id
