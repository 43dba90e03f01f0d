-- Back to version 2. Dropping a column rewrites nothing.
ALTER TABLE {schema}.gen_durable DROP COLUMN concurrency_name
-- ;;
COMMENT ON TABLE {schema}.gen_durable IS '2'
