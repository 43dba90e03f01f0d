-- A hold becomes a sale. Index: the primary key.
UPDATE shop_holds SET state = 'sold' WHERE id = $1 AND state = 'held'
