-- Takes from the stock, if there is enough. Index: the primary key.
-- $1 item  $2 pieces
UPDATE shop_stock SET available = available - $2 WHERE item = $1 AND available >= $2
