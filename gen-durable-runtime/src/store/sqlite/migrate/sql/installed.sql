-- How many of our two first tables the file has: both, or it is not ours.
SELECT count(*) AS tables FROM sqlite_schema WHERE type = 'table' AND name IN ('gen_durable_meta', 'gen_durable')
