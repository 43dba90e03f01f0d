-- Version 3 as the Elixir migrator makes it, on version 2.
ALTER TABLE {schema}.gen_durable ADD COLUMN concurrency_name text generated always as (split_part(concurrency_key, ':', 1)) stored;
COMMENT ON TABLE {schema}.gen_durable IS '3'
