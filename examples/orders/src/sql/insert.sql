-- A new order, in the transaction that starts its instance.
-- $1 order  $2 instance  $3 item  $4 pieces
INSERT INTO orders (id, instance, item, pieces) VALUES ($1, $2, $3, $4)
