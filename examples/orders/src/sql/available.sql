-- What is left of an item. Index: the primary key.
SELECT available FROM stock WHERE item = $1
