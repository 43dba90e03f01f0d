-- Takes an order's pieces from the stock, if there are enough. Index: the primary keys.
UPDATE stock SET available = available - orders.pieces FROM orders
WHERE orders.id = $1 AND stock.item = orders.item AND stock.available >= orders.pieces
