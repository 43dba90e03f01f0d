-- The hold of a key that was seen before. Index: the unique key.
SELECT id FROM shop_holds WHERE key = $1
