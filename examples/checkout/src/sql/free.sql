-- Ends a hold, once; who ended it puts its pieces back in the same transaction. A sale is undone too: the process may
-- have died between the sale and the commit of its step, and the step then failed for good. Index: the primary key.
UPDATE shop_holds SET state = 'freed' WHERE id = $1 AND state <> 'freed' RETURNING item, pieces
