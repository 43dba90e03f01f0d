-- Index: the primary key.
-- $1 order  $2 tracking
UPDATE orders SET state = 'shipped', tracking = $2 WHERE id = $1
