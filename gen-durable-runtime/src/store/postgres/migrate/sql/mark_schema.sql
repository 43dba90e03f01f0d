-- Remembers that the schema is ours to drop.
COMMENT ON SCHEMA {schema} IS 'made by gen-durable'
