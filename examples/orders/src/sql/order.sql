-- An order as it stands. Index: the primary key.
SELECT id, instance, item, pieces, state, event, payment, tracking, reason FROM orders WHERE id = $1
