-- Whether the file has our tables.
SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'gen_durable_meta'
