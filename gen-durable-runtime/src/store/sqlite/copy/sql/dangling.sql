-- A row that refers to none, as a tool without foreign keys leaves it: its table, its id, whether it is a parent.
SELECT "table", rowid, "table" = 'gen_durable' FROM pragma_foreign_key_check LIMIT 1
