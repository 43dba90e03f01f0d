-- Keeps the event of a payment. Index: the primary key.
-- $1 order  $2 reason  $3 event
UPDATE orders SET state = 'released', reason = $2, event = coalesce($3, event) WHERE id = $1
