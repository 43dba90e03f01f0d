-- Puts pieces back into the stock. Index: the primary key.
-- $1 item  $2 pieces
UPDATE shop_stock SET available = available + $2 WHERE item = $1
