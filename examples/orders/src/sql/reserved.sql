-- Index: the primary key.
UPDATE orders SET state = 'reserved' WHERE id = $1
