-- Puts an order's pieces back, if it had any. Index: the primary keys.
UPDATE stock SET available = available + orders.pieces FROM orders
WHERE orders.id = $1 AND stock.item = orders.item AND orders.state IN ('reserved', 'paid')
