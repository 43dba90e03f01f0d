-- Writes a hold, with what was taken from the stock in the same transaction. Index: the unique key.
-- $1 key  $2 order  $3 item  $4 pieces
INSERT INTO shop_holds (key, order_id, item, pieces) VALUES ($1, $2, $3, $4) RETURNING id
