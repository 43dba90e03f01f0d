-- Version 3 of the seed: the name of a concurrency key as a column, for counts per name. A stored generated
-- column rewrites the table and all its indexes under ACCESS EXCLUSIVE: nobody works meanwhile, and the disk
-- holds both copies. Hence the guard on its size in `rewrite.rs`.
ALTER TABLE {schema}.gen_durable
  ADD COLUMN concurrency_name text GENERATED ALWAYS AS (split_part(concurrency_key, ':', 1)) STORED
-- ;;
COMMENT ON TABLE {schema}.gen_durable IS '3'
