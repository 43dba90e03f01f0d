-- The view of the statements that the server counted.
CREATE EXTENSION IF NOT EXISTS pg_stat_statements
