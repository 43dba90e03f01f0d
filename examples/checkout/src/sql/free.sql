-- Gives a hold back to the stock, once: the state's change and the stock's are one statement. A sale is undone too: the
-- process may have died between the sale and the commit of its step, and the step then failed for good.
WITH freed AS (
  UPDATE shop_holds SET state = 'freed' WHERE id = $1 AND state <> 'freed' RETURNING item, pieces
)
UPDATE shop_stock SET available = available + freed.pieces FROM freed WHERE shop_stock.item = freed.item
