-- Takes from the stock and writes the hold, in one statement; a key that was seen before gets its hold back.
-- No row: out of stock. Two at once with one key: the second fails on the unique key, takes nothing, and comes again.
-- $1 key  $2 order  $3 item  $4 pieces
WITH before AS (
  SELECT id FROM shop_holds WHERE key = $1
), taken AS (
  UPDATE shop_stock SET available = available - $4
  WHERE item = $3 AND available >= $4 AND NOT EXISTS (SELECT FROM before)
  RETURNING item
), held AS (
  INSERT INTO shop_holds (key, order_id, item, pieces) SELECT $1, $2, item, $4 FROM taken RETURNING id
)
SELECT id FROM before UNION ALL SELECT id FROM held
