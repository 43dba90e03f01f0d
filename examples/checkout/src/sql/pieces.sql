-- How much a hold is for. Index: the primary key.
SELECT pieces FROM shop_holds WHERE id = $1
